"""Scheduling of runs: pipelines in which one run is prepared while another runs and a third is
analyzed.

A pipeline has three slots, one per stage of a run. Whenever something changes, each free slot takes
the best waiting run: the one with the highest priority, then the earliest due date, then the
oldest. Pipelines are independent.
"""

import asyncio
import csv
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..runs import FolderLock, RIDCounter, folder_of
from .tasks import started
from .worker import Terminated, Worker, WorkerError

__all__ = ["Scheduler"]

logger = logging.getLogger(__name__)

WAITING = ("pending", "flushing")


@dataclass(eq=False)
class _Run:
    """A submitted run."""

    rid: int
    pipeline: str
    expid: dict
    priority: int
    due_date: float | None
    """Seconds of Unix time before which the run is not prepared."""
    flush: bool
    worker: Worker
    directory: str | None = None
    """Directory in which its file is looked up."""
    message: str | None = None
    """Message of its commit."""
    status: str = "pending"
    termination: bool = False
    begun: bool = False
    """Its `run` has started: from now on it is resumed."""
    task: asyncio.Task | None = field(default=None, repr=False)

    @property
    def rank(self):
        return self.priority, -(self.due_date or 0), -self.rid

    def shown(self) -> dict:
        """Return the entry in `Scheduler.get_status`."""
        return {
            "pipeline": self.pipeline,
            "expid": self.expid,
            "repo_msg": self.message,
            "priority": self.priority,
            "due_date": self.due_date,
            "flush": self.flush,
            "status": self.status,
        }


async def _prepare(run: _Run) -> bool:
    folder = str(folder_of(time.time()))
    await run.worker.build(run.rid, run.pipeline, run.directory, run.expid, run.priority, folder=folder)
    await run.worker.prepare()
    return True


async def _run(run: _Run) -> bool:
    begun, run.begun = run.begun, True
    if not begun:
        return await run.worker.run()
    # Reported once: a second request terminates a run that goes on all the same.
    termination, run.termination = run.termination, False
    return await run.worker.resume(termination)


async def _analyze(run: _Run) -> bool:
    await run.worker.analyze()
    return True


class _Stage(NamedTuple):
    """A stage that one run passes at a time: accepted states, the state during and after the stage, and its
    work."""

    takes: tuple[str, ...]
    during: str
    after: str
    work: Callable


_STAGES = (
    _Stage(WAITING, "preparing", "prepare_done", _prepare),
    _Stage(("prepare_done", "paused"), "running", "run_done", _run),
    _Stage(("run_done",), "analyzing", "deleting", _analyze),
)


class Scheduler:
    """Runs submitted experiments, each in its own process; for use within an asyncio loop.

    `ridc` allocates run numbers (its `get`). `worker_handlers`: services available to experiments
    besides this scheduler, see `Worker`. `experiment_db`: the repository of experiments with a
    ``repo_rev``. `log_submissions`: a file to which each submission is appended, as a line of
    CSV: number, Unix time, file.
    """

    def __init__(self, ridc=None, worker_handlers=None, experiment_db=None, log_submissions=None):
        self._ridc = RIDCounter() if ridc is None else ridc
        self._repository, self._log = experiment_db, log_submissions
        self._handlers = dict(worker_handlers or {})
        for method in (
            self.submit,
            self.delete,
            self.request_termination,
            self.get_status,
            self.check_pause,
            self.check_termination,
        ):
            self._handlers.setdefault(f"scheduler.{method.__name__}", method)
        self._runs: dict[int, _Run] = {}
        self._started = False
        self._lock = FolderLock(getattr(self._ridc, "folder", "."))

    def start(self, *, loop=None):
        """Start the submitted runs, and schedule until `stop`. `loop` is ignored. UsageError if a
        scheduler of another process uses the folder of the run numbers."""
        self._lock.acquire()
        self._started = True
        for name in {run.pipeline for run in self._runs.values()}:
            self._arrange(name)

    async def stop(self):
        """End all runs."""
        self._started = False
        for rid in list(self._runs):
            self.delete(rid)
        await self.wait()
        self._lock.release()

    async def wait(self):
        """Wait until there are no runs."""
        while self._runs:
            tasks = [run.task for run in self._runs.values() if run.task is not None]
            await asyncio.wait([*tasks, asyncio.ensure_future(asyncio.sleep(0.1))], return_when="FIRST_COMPLETED")

    def submit(self, pipeline_name, expid, priority=0, due_date=None, flush=False) -> int:
        """Submit an experiment; returns the number of the run.

        `expid`: its ``file``, or ``content``, its source text; ``class_name`` and ``arguments``;
        with ``repo_rev`` the file is taken from the repository, at that revision, or for None at
        the one scanned last. `due_date`: not to be prepared before, in seconds of Unix time.
        `flush`: wait until no other run of the pipeline with at least the same priority is being
        prepared, run or analyzed.
        """
        directory, message = None, None
        if "repo_rev" in expid:
            if self._repository is None:
                raise WorkerError("this scheduler has no repository: submit without repo_rev")
            revision = expid["repo_rev"] or self._repository.cur_rev
            expid = {**expid, "repo_rev": revision}
            directory, message = self._repository.request_rev(revision)
        rid = self._ridc.get()
        run = _Run(rid, pipeline_name, expid, priority, due_date, flush, Worker(self._handlers), directory, message)
        self._runs[rid] = run
        if self._log is not None:
            with Path(self._log).open("a", newline="") as file:
                csv.writer(file).writerow([rid, time.time(), expid.get("file", "")])
        self._arrange(pipeline_name)
        return rid

    def delete(self, rid):
        """Terminate a run immediately."""
        run = self._runs.get(rid)
        if run is None or run.status == "deleting":
            return
        run.status = "deleting"
        if run.task is not None and not run.task.done():
            run.task.cancel()
        else:
            self._cut_short(run)

    def _cut_short(self, run: _Run):
        if run.status == "deleting":
            run.task = asyncio.get_running_loop().create_task(self._end(run))

    def request_termination(self, rid):
        """Ask a run that has begun to end at its next check; a run that has not begun is deleted."""
        run = self._runs.get(rid)
        if run is not None and run.status in ("running", "paused"):
            run.termination = True
        else:
            self.delete(rid)

    def get_status(self) -> dict:
        """Return every run, by number: ``pipeline``, ``expid``, ``priority``, ``due_date``,
        ``flush``, ``status``."""
        return {rid: run.shown() for rid, run in self._runs.items()}

    def check_pause(self, rid) -> bool:
        """Return whether a running run should yield to a prepared one, or terminate. KeyError for an
        unknown one."""
        run = self._runs.get(rid)
        if run is None:
            raise KeyError("RID not found")
        return run.status == "running" and (
            run.termination
            or any(other.rank > run.rank for other in self._those_of(run.pipeline) if other.status in _STAGES[1].takes)
        )

    def check_termination(self, rid) -> bool:
        """Return whether a run should terminate."""
        run = self._runs.get(rid)
        return run is not None and run.termination

    def _those_of(self, pipeline) -> list[_Run]:
        return [run for run in self._runs.values() if run.pipeline == pipeline]

    def _arrange(self, pipeline):
        """Assign runs to the free slots of a pipeline."""
        if not self._started:
            return
        runs = self._those_of(pipeline)
        for stage in reversed(_STAGES):  # a run that begins makes room for the preparation of the next one
            ready = [run for run in runs if run.status in stage.takes]
            if not ready or any(run.status == stage.during for run in runs):
                continue
            best = self._next_to_prepare(ready, runs) if stage.takes == WAITING else max(ready, key=lambda r: r.rank)
            if best is not None:
                best.status = stage.during
                best.task = started(self._perform(best, stage), partial(self._cut_short, best))

    def _next_to_prepare(self, ready, runs) -> _Run | None:
        now = time.time()
        later = [run.due_date for run in ready if (run.due_date or 0) > now]
        if later:
            asyncio.get_running_loop().call_later(min(later) - now, self._arrange, ready[0].pipeline)
        best = max((run for run in ready if (run.due_date or 0) <= now), key=lambda run: run.rank, default=None)
        if best is None or any(run.rank > best.rank for run in runs if run.status == "prepare_done"):
            return None
        active = (run for run in runs if run.status not in WAITING)
        if best.flush and any(run.priority >= best.priority for run in active):
            best.status = "flushing"
            return None
        return best

    async def _perform(self, run: _Run, stage: _Stage):
        """Take a run through a stage, then start the next one of its pipeline."""
        try:
            finished = await stage.work(run)
            run.status = stage.after if finished else "paused"
        except (asyncio.CancelledError, Terminated):
            run.status = "deleting"
        except Exception as error:
            logger.error("run %d has failed while %s: %s", run.rid, stage.during, error)
            run.status = "deleting"
        if run.status == "deleting":
            await self._end(run)
        self._arrange(run.pipeline)

    async def _end(self, run: _Run):
        await run.worker.close()
        if run.expid.get("repo_rev") is not None:
            self._repository.release_rev(run.expid["repo_rev"])
        self._runs.pop(run.rid, None)
        self._arrange(run.pipeline)
