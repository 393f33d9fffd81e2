"""What a run does in each of its stages, in the process that it has."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ..errors import UsageError
from .journal import Reader
from .processes import Ended, Process, Processes, some
from .queue import Queue
from .rehearsals import Rehearsals
from .run import Run, submitted_as

__all__ = ["Stages"]

logger = logging.getLogger(__name__)

BUILD = 15.0
"""Seconds for an experiment to be built, as far as its own code takes time."""


class Stages:
    """The stages of the runs of a laboratory. What it is made of: see `scheduler.Scheduler`."""

    def __init__(
        self,
        queue: Queue,
        processes: Processes,
        sources,
        results: Path,
        rehearsals: Rehearsals,
        callbacks: dict[str, Callable],
    ):
        self._queue, self._processes, self._sources = queue, processes, sources
        self._results, self._rehearsals, self._callbacks = results, rehearsals, callbacks

    def adopted(self, run: Run, pid: int) -> Process:
        """Return the process of a run that has outlived a laboratory."""
        self._callbacks["adopted"](run.rid)
        return self._processes.adopt(run.rid, run.folder, pid, self._taker(run), self._printer(run))

    async def catch_up(self, run: Run):
        """Take what a run has written that has ended without a laboratory: the values that it has set are kept."""
        self._callbacks["adopted"](run.rid)
        take, reader = self._taker(run), Reader(run.folder / "journal", complete=True)
        while records := some(reader):
            take(run.rid, records)
            await asyncio.sleep(0)

    def _taker(self, run: Run):
        def take(_, records):
            for record in records:
                if record.operation == "stage" and "devices" in record.more:
                    run.devices = tuple(record.more["devices"])
            self._callbacks["take"](run.rid, records)

        return take

    def _printer(self, run: Run):
        return lambda level, text: self._callbacks["printed"](run, level, text)

    async def perform(self, run: Run, status: str, going_on=False) -> str:
        """Take a run through the stage in which its status is `status`; returns the status after it. `going_on`:
        the stage of its process, see `Process.stage`, if that has outlived a laboratory. UsageError if the stage has
        not ended as it should, after which `run.failure` says how."""
        work = {"preparing": self._prepare, "running": self._run, "analyzing": self._analyze}[status]
        return await work(run, going_on)

    async def _prepare(self, run: Run, going_on) -> str:
        stages = {False: ("build", "prepare"), None: ("build", "prepare"), "build": ("prepare",), "prepare": ()}
        if going_on is False:
            begin = await self._begin(run)
            run.process = await self._processes.fork(
                "run", run.rid, run.folder, begin, self._taker(run), self._printer(run)
            )
        elif going_on in ("build", "prepare"):
            self._check(run, *await run.process.result())
        for stage in stages[going_on]:
            how, data = await run.process.perform(stage, BUILD if stage == "build" else None)
            self._check(run, how, data)
            run.devices = tuple(data or ())
        return "prepare_done"

    async def _begin(self, run: Run) -> dict:
        return {
            **submitted_as(run),
            "directory": await self._sources.directory(run.submission.expid),
            "results": str(self._results),
            **self._callbacks["begin"](),
        }

    def _check(self, run: Run, how: str, data):
        if how in ("failed", "terminated"):
            run.failure = (how, str(data))
            raise UsageError(str(data))

    async def _run(self, run: Run, going_on) -> str:
        if going_on:
            how, data = await run.process.result()
        elif run.begun:
            # Reported once: a second request terminates a run that goes on all the same.
            termination = run.submission.termination
            if termination:
                self.note_termination(run, False)
            how, data = await run.process.perform("resume", termination=termination)
        else:
            run.begun = True
            how, data = await run.process.perform("run", theory=self._rehearsals.theory.get(run.rid))
        self._check(run, how, data)
        return "paused" if how == "paused" else "run_done"

    def note_termination(self, run: Run, wanted: bool):
        """Note that a run is to terminate, or has been told; on a full disk for this laboratory only."""
        try:
            run.submission = self._queue.change(run.submission, termination=wanted)
        except UsageError as error:
            logger.error("run %d: %s", run.rid, error)
            run.submission = replace(run.submission, termination=wanted)

    async def _analyze(self, run: Run, going_on) -> str:
        how, data = await (run.process.result() if going_on == "analyze" else run.process.perform("analyze"))
        self._check(run, how, data)
        run.failure = ("completed", None)
        return "deleting"

    async def close(self, run: Run):
        """Have a process write its file; it then ends by itself."""
        try:
            await run.process.perform("end")
            await run.process.gone.wait()
        except Ended:
            pass
