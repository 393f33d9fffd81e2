"""Rehearsals of submissions: each is run on the twin of the laboratory before its turn comes.

The policy of a pipeline says what follows from one that fails: nothing is rehearsed (``off``), its
submitter is told (``warn``), or the run is held (``must``), and not begun before it has passed.
"""

import asyncio
import itertools
import logging
from collections.abc import Callable
from pathlib import Path

from ..errors import KairosError
from .processes import Processes
from .queue import Submission
from .settings import Rehearsing

__all__ = ["Rehearsals"]

logger = logging.getLogger(__name__)

MORE = 60.0
"""Seconds beyond the allowed ones in which a rehearsal must end."""


class Rehearsals:
    """The rehearsals of a laboratory, one at a time.

    `folder`: where their processes work. `begin(expid)`: returns what a process is given.
    `changed(rid)`: called when a run may begin, `failed(rid, why)` when it must not.
    """

    def __init__(self, settings: Rehearsing, processes: Processes, folder: Path, **callbacks: Callable):
        self._settings, self._processes, self._folder = settings, processes, folder
        self._callbacks = callbacks
        self._tasks: dict[int, asyncio.Task] = {}
        self._submissions: dict[int, Submission] = {}
        self._places = asyncio.Semaphore(1)
        self._asked = itertools.count()
        self.results: dict[int, dict] = {}
        """What was found, by number of the run, see `twin.verdict.described`; or `sentence` and
        `passed` only."""
        self.theory: dict[int, dict] = {}
        """Curves that the twin has measured, by number of the run, see `theory.curves`."""

    def policy(self, submission: Submission) -> str:
        """Return ``off``, ``warn`` or ``must``."""
        return self._settings.policy(submission.pipeline)

    def begin(self, submission: Submission):
        """Rehearse a submission, which is new or was changed."""
        rid = submission.rid
        if self.policy(submission) == "off" or self._is_known(submission):
            return
        self.end(rid)
        self._submissions[rid] = submission
        self._tasks[rid] = asyncio.get_running_loop().create_task(self._rehearse(submission))

    def _is_known(self, submission: Submission) -> bool:
        before = self._submissions.get(submission.rid)
        same = before is not None and before.expid == submission.expid and before.pipeline == submission.pipeline
        return same and (submission.rid in self._tasks or self.results.get(submission.rid, {}).get("passed", False))

    def end(self, rid: int):
        """Forget a run, which has begun or was deleted."""
        task = self._tasks.pop(rid, None)
        if task is not None:
            task.cancel()
        self.results.pop(rid, None)
        self.theory.pop(rid, None)
        self._submissions.pop(rid, None)

    def stop(self):
        """End all rehearsals; the next laboratory begins them again."""
        for task in list(self._tasks.values()):
            task.cancel()

    def shown(self, rid: int) -> tuple[str, bool]:
        """Return what is said of a run's rehearsal, empty if it has none, and whether it has failed."""
        found = self.results.get(rid)
        if found is not None:
            return found["sentence"], not found["passed"]
        return "is being rehearsed" if rid in self._tasks else "", False

    def blocks(self, submission: Submission) -> bool:
        """Return whether a run must not begin."""
        return self.why(submission) is not None

    def why(self, submission: Submission) -> str | None:
        """Return why a run must not begin; None if it may."""
        if self.policy(submission) != "must":
            return None
        found = self.results.get(submission.rid)
        if found is None:
            return "its rehearsal has not ended yet"
        return None if found["passed"] else f"its rehearsal {found['sentence']}"

    async def wait(self, rid: int) -> dict | None:
        """Wait for the rehearsal of a run; returns what was found, None if it is not rehearsed."""
        task = self._tasks.get(rid)
        if task is not None:
            await asyncio.wait([task])
        return self.results.get(rid)

    async def now(
        self, expid: dict, bench: dict[str, float] | None = None, theory: bool = False, summary: bool = False
    ) -> dict:
        """Rehearse what is not submitted, whatever the policy; returns what was found, as in `results`, with `theory`
        the curves that the twin has measured and the `numbers` of the bench file. `bench`: numbers of the bench file
        that have other values. `summary`: with a `summary` to be compared, see `kairos.twin.folder`."""
        async with self._places:
            how = {"values": bench or {}, "theory": theory, "summary": summary}
            found = await self._found(f"asked-{next(self._asked)}", expid, **how)
        if not theory:
            found.pop("theory", None)
        return found

    async def _rehearse(self, submission: Submission):
        try:
            async with self._places:
                found = await self._found(str(submission.rid), submission.expid)
        except asyncio.CancelledError:
            return
        finally:
            if self._submissions.get(submission.rid) is submission:
                self._tasks.pop(submission.rid, None)
        if self._submissions.get(submission.rid) is not submission:
            return
        self.theory[submission.rid] = found.pop("theory", {})
        self.results[submission.rid] = found
        logger.log(
            logging.INFO if found["passed"] else logging.WARNING, "run %d: %s", submission.rid, found["sentence"]
        )
        if self.policy(submission) == "must" and not found["passed"]:
            self._callbacks["failed"](submission.rid, found["sentence"])
        self._callbacks["changed"](submission.rid)

    async def _found(
        self, name: str, expid: dict, values: dict | None = None, theory: bool = False, summary: bool = False
    ) -> dict:
        """`values`: numbers of the bench file that have other ones. `theory`: its curves are wanted in any case."""
        try:
            how = self._how()
            how |= {"theory": how["theory"] or theory, "numbers": theory, "summary": summary}
            begin = {**await self._callbacks["begin"](expid), "how": how, "values": values or {}}
        except (KairosError, OSError) as error:
            return {"passed": False, "sentence": f"is impossible: {error}"}
        key, folder = f"rehearsal {name}", self._folder / name
        how, data = await self._processes.once("rehearse", key, folder, begin, self._settings.within_s + MORE)
        return data if how == "completed" else {"passed": False, "sentence": f"is impossible: {data}"}

    def _how(self) -> dict:
        settings = self._settings
        return {
            "twin": settings.twin,
            "within_s": settings.within_s,
            "network_ns": round(settings.network_us * 1e3),
            "theory": settings.theory,
        }
