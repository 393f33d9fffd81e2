"""The scheduler: lets the runs of the queue enter their stages, in order.

It decides with :mod:`.order`; what a run does in a stage is in :mod:`.stages`. Everything that must survive goes
through :mod:`.queue` first.
"""

import asyncio
import logging
import os
import shutil
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from ..controllers.publishing import Publication
from ..errors import KairosError, UsageError
from ..experiment.arguments import DefaultMissing
from ..schedule.tasks import started
from . import clock, order, storing
from .contents import progress_of
from .disk import shortage
from .locks import Locks
from .processes import Ended, Processes, holder_of, lock_free
from .queue import Queue, Submission
from .rehearsals import Rehearsals
from .run import Run, check_scheduling, check_submission, status_during
from .stages import Stages

__all__ = ["Scheduler"]

logger = logging.getLogger(__name__)

DUE = 1.0
"""Seconds between looks at the clock while a run is not due: the clock may be set; and at a full disk."""


class Scheduler:
    """The runs of a laboratory.

    `folder`: where the folders of runs are. `results`: the folder for results. `sources`: the
    repository, see `repository`. `take(rid, records)`: called with what runs write, `printed(run,
    level, text)` with what they log, `ended(record)` with the record of a run at its end.
    `write_pending()`: called before the journal of a run is removed, see `storing`;
    `adopted(rid)` before what was written under an earlier laboratory; `submitted(submission)`.
    `begin`: returns what else a run is told. `rehearsals`: see there.
    """

    def __init__(
        self,
        queue: Queue,
        processes: Processes,
        sources,
        folder: Path,
        results: Path,
        locks: Locks,
        rehearsals: Rehearsals,
        **callbacks: Callable,
    ):
        self._queue, self._processes, self._sources = queue, processes, sources
        self.rehearsals = rehearsals
        self._stages = Stages(queue, processes, sources, results, rehearsals, callbacks)
        self._folder, self._results = folder, results
        self._callbacks = callbacks
        self._locks = locks
        locks.publication.watchers.append(self._locks_changed)
        self.runs: dict[int, Run] = {}
        self.publication = Publication(lambda: {rid: run.shown() for rid, run in self.runs.items()})
        self._started = False
        self._asked_to_stop = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._changed = asyncio.Event()

    # Start and end

    @property
    def _stopping(self) -> bool:
        return self._asked_to_stop.is_set()

    async def start(self):
        """Take over what is in the queue: runs whose process is alive go on, those that were cut off
        are stored, the others wait."""
        for submission in sorted(self._queue.load(), key=lambda each: each.rid):
            run = Run(submission, self._folder / f"{submission.rid:09d}")
            self.runs[run.rid] = run
            if run.folder.exists():
                await self._take_over(run)
        for path in self._folder.glob("*"):
            if path.name.isdecimal() and int(path.name) not in self.runs and (lock := lock_free(path)) is not None:
                shutil.rmtree(path, ignore_errors=True)  # its run was stored; only the folder was left
                os.close(lock)
        self._started = True
        for run in self.runs.values():
            if run.status in order.WAITING:
                self.rehearsals.begin(run.submission)
        for name in {run.submission.pipeline for run in self.runs.values()}:
            self._arrange(name)

    async def _take_over(self, run: Run):
        lock = lock_free(run.folder)
        if lock is None:
            run.process = self._stages.adopted(run, holder_of(run.folder))
            # Before the process has connected: no other run may take its place.
            run.status = status_during(progress_of(run.folder / "journal").stage)
            run.task = started(self._continue(run), partial(self._cut_short, run))
            return
        # Held until the folder is gone: a process that is started late must not run it.
        run.lock = lock
        if self._cut_off(run):
            await self._stages.catch_up(run)
            run.task = asyncio.get_running_loop().create_task(self._end(run))
        else:
            run.release()

    def _cut_off(self, run: Run) -> bool:
        """Decide what becomes of a run whose process is gone: returns whether it is to be stored.
        One that had not begun goes back to the queue."""
        run.process = None
        written = progress_of(run.folder / "journal")
        if not written.begun and written.end is None:
            shutil.rmtree(run.folder, ignore_errors=True)
            self._set_status(run, "pending")
            return False
        run.failure = ("interrupted", None) if written.end is None else (written.end["status"], written.end["error"])
        logger.warning("run %d was cut off: it is stored as %s", run.rid, run.failure[0])
        self._set_status(run, "deleting")
        return True

    async def _continue(self, run: Run):
        """Go on with a run whose process has outlived a laboratory."""
        process = run.process
        try:
            await process.connected()
            await process.read_on()
        except Ended:
            await self._processes.drop(process)
            if self._cut_off(run):
                await self._end(run)
            self._arrange(run.submission.pipeline)
            return
        except asyncio.CancelledError:
            if not self._stopping:
                await self._end(run)  # it was deleted
            return
        run.begun = process.stage in ("run", "analyze")
        self._set_status(run, status_during(process.stage))
        await self._perform(run, run.status, going_on=process.stage)

    async def stop(self):
        """Stop scheduling. Runs that are prepared go back to the queue; running ones go on."""
        self._started = False
        self._asked_to_stop.set()
        self.rehearsals.stop()
        if self._timer is not None:
            self._timer.cancel()
        for run in list(self.runs.values()):
            if run.status in ("preparing", "prepare_done") and run.process is not None:
                if run.task is not None:
                    run.task.cancel()
                await run.process.stop()
                shutil.rmtree(run.folder, ignore_errors=True)
            elif run.task is not None and run.status != "deleting":
                run.task.cancel()
        await asyncio.gather(*(run.task for run in self.runs.values() if run.task), return_exceptions=True)

    async def wait(self):
        """Wait until the queue is empty."""
        while self.runs:
            await self.ended_next()

    async def ended_next(self):
        """Wait until a run has ended."""
        self._changed.clear()
        await self._changed.wait()

    # Requests

    async def submit(self, pipeline_name, expid, priority=0, due_date=None, flush=False, **more) -> int | None:
        """Add a run to the queue; returns its number, once it is on the disk. None while the
        laboratory ends. KeyError if `repo_rev` is no commit, UsageError if its files cannot be written.
        `more`: `held`, `after`, `repeat`, `person`, `request`, see `queue.Submission`."""
        if self._stopping:
            return None
        scheduling = {"pipeline": pipeline_name, "priority": priority, "due_date": due_date, "flush": flush, **more}
        scheduling = check_submission(expid, **scheduling)
        expid, message = await self._sources.resolved(expid)
        # From now on the files of its commit are there, also if the commit vanishes from its repository.
        async with self._sources.using(expid):
            submission = self._queue.submit(expid=expid, message=message, **scheduling)
            self._callbacks["submitted"](submission)
            self._enter(submission)
        return submission.rid

    def _enter(self, submission: Submission):
        if submission.rid in self.runs:
            return
        run = Run(submission, self._folder / f"{submission.rid:09d}")
        self.runs[run.rid] = run
        self.publication.changed([{"action": "setitem", "path": [], "key": run.rid, "value": run.shown()}])
        self.rehearsals.begin(submission)
        self._arrange(submission.pipeline)

    def delete(self, rid):
        """End a run by force."""
        run = self.runs.get(rid)
        if run is None or run.status == "deleting":
            return
        run.failure = run.failure or ("deleted", None)
        if run.task is not None and not run.task.done():
            self._set_status(run, "deleting")
            run.task.cancel()
        else:
            self._set_status(run, "deleting")
            self._cut_short(run)

    def _cut_short(self, run: Run):
        if run.status == "deleting":
            run.task = asyncio.get_running_loop().create_task(self._end(run))

    def request_termination(self, rid):
        """Ask a run that has begun to end at its next pause; one that has not is deleted."""
        run = self.runs.get(rid)
        if run is None:
            return
        if run.status in ("running", "paused"):
            self._stages.note_termination(run, True)
            self._arrange(run.submission.pipeline)  # one that is held goes on now
        else:
            self.delete(rid)

    def get_status(self) -> dict:
        """Return every run, by number: see `Run.shown`."""
        return {rid: run.shown() for rid, run in self.runs.items()}

    def check_pause(self, rid) -> bool:
        """Return whether a running run should pause or terminate; KeyError for an unknown one."""
        if rid not in self.runs:
            raise KeyError("RID not found")
        run = self.runs[rid]
        others = self.those_of(run.submission.pipeline)
        return run.status == "running" and (run.submission.termination or order.should_pause(run, others, self._locked))

    def check_termination(self, rid) -> bool:
        """Return whether a run should terminate."""
        run = self.runs.get(rid)
        return run is not None and run.submission.termination

    def known(self, rid: int) -> Run:
        """Return a run; UsageError if there is none."""
        if rid not in self.runs:
            raise UsageError(f"there is no run {rid} in the queue")
        return self.runs[rid]

    def expid(self, rid: int) -> dict:
        """Return what was submitted as a run, in the queue or finished; UsageError for an unknown one."""
        return self.runs[rid].submission.expid if rid in self.runs else self._queue.ended(rid)

    def waiting(self, rid: int) -> Run:
        """Return a run that has not begun; UsageError if there is none."""
        run = self.known(rid)
        if run.status not in order.WAITING:
            status = run.status.replace("_done", "d")
            raise UsageError(f"run {rid} is {status} already: only runs that wait can be changed")
        return run

    def change(self, rid: int, **values):
        """Change fields of a run that has not begun; UsageError."""
        run = self.waiting(rid)
        before = run.submission.pipeline
        self._changed_to(run, self._queue.change(run.submission, **values))
        self._arrange(before)

    def set_held(self, rid: int, why: str | None):
        """Hold a run: one that waits does not begin, one that runs pauses when it can; None: release it. UsageError."""
        run = self.known(rid)
        if run.status not in (*order.WAITING, *order.RUNNABLE, "preparing", "running"):
            raise UsageError(f"run {rid} is {run.status} already")
        check_scheduling(held=why)
        released = {"after": None} if why is None else {}
        self._changed_to(run, self._queue.change(run.submission, held=why, **released))

    def move(self, rid: int, other: int, before: bool):
        """Place a run that has not begun before or behind another one; UsageError."""
        run, place = self.waiting(rid), self.waiting(other)
        if run is place:
            raise UsageError(f"run {rid} cannot be placed next to itself")
        waiting = [each.submission for each in self.runs.values() if each.status in order.WAITING]
        changed = self._queue.move(run.submission, place.submission, before, waiting)
        for submission in changed:
            self.runs[submission.rid].submission = submission  # all of them, before anything is decided by their order
        for submission in changed:
            self._changed_to(self.runs[submission.rid], submission)

    def _changed_to(self, run: Run, submission: Submission):
        run.submission = submission
        if run.status == "flushing" and not submission.flush:
            run.status = "pending"
        self.publication.changed([{"action": "setitem", "path": [], "key": run.rid, "value": run.shown()}])
        if submission.held is None and run.status in order.WAITING:
            self.rehearsals.begin(submission)
        self._arrange(submission.pipeline)

    def rehearsed(self, rid: int):
        """Let a run begin, whose rehearsal has ended."""
        if rid in self.runs:
            self._arrange(self.runs[rid].submission.pipeline)
            self.publication.changed([])  # its rehearsal is shown

    def hold(self, rid: int, why: str):
        """Hold a run that has not begun, if there is one."""
        run = self.runs.get(rid)
        if run is not None and run.status in order.WAITING:
            self._changed_to(run, self._queue.change(run.submission, held=why))

    def why(self, run: Run) -> str | None:
        """Return why a run waits; None if it does not."""
        return self.reasons([run])[run.rid]

    def reasons(self, runs: Iterable[Run]) -> dict[int, str | None]:
        """Return why runs wait, by number; None for those that do not."""
        # Without room for the files with which a run begins it waits, and does not fail.
        full, reasons = shortage(self._folder), {}

        def why(run):
            submission = run.submission
            if run.status in order.WAITING and submission.held is None:
                if full:
                    return full
                if self.rehearsals.blocks(submission):
                    return self.rehearsals.why(submission)
            if submission.pipeline not in reasons:
                known = self.those_of(submission.pipeline), clock.now(), self._unmet, self._locked
                reasons[submission.pipeline] = order.Reasons(*known)
            return reasons[submission.pipeline].why(run)

        return {run.rid: why(run) for run in runs}

    def those_of(self, pipeline) -> list[Run]:
        """Return the runs of a pipeline."""
        return [run for run in self.runs.values() if run.submission.pipeline == pipeline]

    def _locked(self, run: Run) -> str | None:
        submission = run.submission
        return self._locks.blocking(submission.pipeline, run.devices, submission.person)

    def _locks_changed(self, _):
        for name in {run.submission.pipeline for run in self.runs.values()}:
            self._arrange(name)
        self.publication.changed([])  # others wait now

    def _unmet(self, submission: Submission) -> bool:
        if self.rehearsals.blocks(submission):
            return True
        if submission.after is None:
            return False
        return submission.after in self.runs or self._queue.how_ended(submission.after) != "completed"

    # Stages

    def _set_status(self, run: Run, status: str):
        if run.status != status:
            run.status = status
            self.publication.changed([{"action": "setitem", "path": [run.rid], "key": "status", "value": status}])

    def _arrange(self, pipeline):
        """Let runs of a pipeline enter the stages that are free."""
        if not self._started:
            return
        now, is_full = clock.now(), shortage(self._folder) is not None

        def unmet(submission):
            return is_full or self._unmet(submission)

        # A run that leaves a stage may make room for another one in an earlier stage.
        while changes := [
            (run, status)
            for run, status in order.chosen(self.those_of(pipeline), now, unmet, self._locked)
            if run.status != status
        ]:
            for run, status in changes:
                self._set_status(run, status)
                if status != "flushing":
                    run.task = started(self._perform(run, status), partial(self._cut_short, run))
        waits = order.next_due(self.runs.values(), now) is not None
        waits = waits or (self.runs and (is_full or self._locks.active()))
        if self._timer is None and waits:
            self._timer = asyncio.get_running_loop().call_later(DUE, self._check_due)

    def _check_due(self):
        self._timer = None
        for pipeline in {run.submission.pipeline for run in self.runs.values()}:
            self._arrange(pipeline)

    async def _perform(self, run: Run, status: str, going_on=False):
        """Take a run through a stage, then let others of its pipeline have their turn."""
        try:
            self._set_status(run, await self._stages.perform(run, status, going_on))
        except asyncio.CancelledError:
            if self._stopping and run.status != "deleting":
                raise
            self._set_status(run, "deleting")
        except (KairosError, DefaultMissing, OSError, TimeoutError) as error:
            run.failure = run.failure or ("failed", str(error) or f"it was not {status} in time")
            self._set_status(run, "deleting")
        except Exception as error:
            logger.exception("run %d", run.rid)
            run.failure = ("failed", f"{type(error).__name__}: {error}")
            self._set_status(run, "deleting")
        if run.status == "deleting":
            self._arrange(run.submission.pipeline)
            await self._end(run)
        self._arrange(run.submission.pipeline)

    # The end

    async def _end(self, run: Run):
        """End the process of a run, store what it has measured, and remove it from the queue."""
        status, error = run.failure or ("failed", None)
        process = run.process
        if process is not None:
            if status != "deleted" and not process.busy and process.greeted.is_set() and not process.gone.is_set():
                await self._stages.close(run)
            await process.stop(orderly=status == "deleted")
            await self._processes.drop(process)
        if error and status == "failed":
            logger.error("run %d has failed: %s", run.rid, error)
        how = {"status": status, "error": error}
        stored = await storing.stored(
            run, how, self._queue, self._results, self._asked_to_stop, self._callbacks["write_pending"]
        )
        if stored is None:
            return
        record, again = stored
        # Only now: it says that the run has been.
        await asyncio.to_thread(shutil.rmtree, run.folder, ignore_errors=True)
        run.release()
        self.rehearsals.end(run.rid)
        self.runs.pop(run.rid, None)
        self._callbacks["ended"](record)
        self.publication.changed([{"action": "delitem", "path": [], "key": run.rid}])
        self._changed.set()
        if again is not None:
            self._enter(again)
        for pipeline in {each.submission.pipeline for each in self.runs.values()}:
            self._arrange(pipeline)  # another one may depend on it
