"""Rehearsals of submissions: each is run on the twin of the laboratory before its turn comes.

The policy of a pipeline says what follows from one that fails: nothing is rehearsed (``off``), its
submitter is told (``warn``), or the run is held (``must``), and not begun before it has passed.

People also ask for rehearsals of what is not submitted, and for what the twin would measure with other numbers. However
many they are and however slow the twin is, no submission waits for them; those who ask for the same share it.
"""

import asyncio
import itertools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .. import pyon
from ..errors import KairosError, UsageError
from .processes import Processes
from .queue import Submission
from .settings import Rehearsing

__all__ = ["Rehearsals"]

logger = logging.getLogger(__name__)

MORE = 60.0
"""Seconds beyond the allowed ones in which a rehearsal must end."""
MOST_ASKED = 32
"""Rehearsals for which people may wait that have asked for them, of whatever is not the same."""


@dataclass
class _Asked:
    """A rehearsal for which somebody has asked."""

    task: asyncio.Task
    waiting: int = 0
    """How many wait for it: it is ended with the last of them."""


class Rehearsals:
    """The rehearsals of a laboratory: one of the submissions, and one of what people ask for, at a time.

    `folder`: where their processes work. `begin(expid)`: returns what a process is given.
    `changed(rid)`: called when a run may begin, `failed(rid, why)` when it must not.
    """

    def __init__(self, settings: Rehearsing, processes: Processes, folder: Path, **callbacks: Callable):
        self._settings, self._processes, self._folder = settings, processes, folder
        self._callbacks = callbacks
        self._tasks: dict[int, asyncio.Task] = {}
        self._submissions: dict[int, Submission] = {}
        self._places, self._places_asked = asyncio.Semaphore(1), asyncio.Semaphore(1)
        self._numbers = itertools.count()
        self._asked: dict[str, _Asked] = {}
        """Those that have not begun, by what is asked for."""
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
        self,
        expid: dict,
        bench: dict[str, float] | None = None,
        theory: bool = False,
        summary: bool = False,
        rid: int = 0,
    ) -> dict:
        """Rehearse what is not submitted, whatever the policy; returns what was found, as in `results`, with `theory`
        the curves that the twin has measured and the `numbers` of the bench file. `bench`: numbers of the bench file
        that have other values. `summary`: with a `summary` to be compared, see `kairos.twin.folder`. `rid`: number of
        the run that is repeated. UsageError if too many are waited for."""
        how = {"values": bench or {}, "theory": theory, "summary": summary, "rid": rid}
        key = pyon.encode([expid, how])
        asked = self._asked.get(key)
        if asked is None:
            if len(self._asked) >= MOST_ASKED:
                raise UsageError(f"{MOST_ASKED} rehearsals are waited for already: ask again when some have ended")
            task = asyncio.get_running_loop().create_task(self._ask(key, expid, how))
            asked = self._asked[key] = _Asked(task)
        asked.waiting += 1
        try:
            # Who goes away does not end it for the others.
            found = dict(await asyncio.shield(asked.task))
        finally:
            asked.waiting -= 1
            if not asked.waiting:
                self._begun(key, asked.task)
                asked.task.cancel()
        if not theory:
            found.pop("theory", None)
        return found

    async def _ask(self, key: str, expid: dict, how: dict) -> dict:
        async with self._places_asked:
            self._begun(key, asyncio.current_task())
            return await self._found(f"asked-{next(self._numbers)}", expid, **how)

    def _begun(self, key: str, task):
        """Whoever asks for the same from now on may mean other parameters."""
        if key in self._asked and self._asked[key].task is task:
            del self._asked[key]

    async def _rehearse(self, submission: Submission):
        try:
            async with self._places:
                found = await self._found(str(submission.rid), submission.expid, rid=submission.rid)
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
        self, name: str, expid: dict, values: dict | None = None, theory=False, summary=False, rid: int = 0
    ) -> dict:
        """`values`: numbers of the bench file that have other ones. `theory`: its curves are wanted in any case."""
        try:
            how = self._how()
            how |= {"theory": how["theory"] or theory, "numbers": theory, "summary": summary, "rid": rid}
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
