"""Comparisons of ended runs, which people ask for: each has a process of its own, which gives way to everything else.

That of two runs takes as long as their waveforms are, a repetition as long as the run.
"""

import asyncio
import itertools
from pathlib import Path

from ..errors import UsageError
from .processes import Processes

__all__ = ["Checks"]

DIFF = 120.0
"""Seconds in which two runs must be compared."""
VERIFY = 3600.0
"""Seconds in which a run must be repeated."""


class Checks:
    """The comparisons of a laboratory. `folder`: where their processes work."""

    def __init__(self, processes: Processes, folder: Path):
        self._processes, self._folder = processes, folder
        self._asked = itertools.count()
        self._places = asyncio.Semaphore(1)
        """Of repetitions: each has a device of its own."""

    async def diff(self, one: Path, other: Path, recorded: bool) -> dict:
        """Return what differs between the runs with these files: the first `differences`, their number in `total`,
        whether they are the `same`, the `events` of the first one, and `notices`. UsageError."""
        return await self._found("diff", {"files": [str(one), str(other)], "recorded": recorded}, DIFF)

    async def verify(self, file: Path) -> dict:
        """Return what differs between a run and its repetition: see `kairos.twin.verification.compared`, and the number
        of differences in `total`. UsageError."""
        async with self._places:
            return await self._found("verify", {"file": str(file)}, VERIFY)

    async def _found(self, kind: str, begin: dict, timeout: float) -> dict:
        name = f"{kind}-{next(self._asked)}"
        how, data = await self._processes.once(kind, f"check {name}", self._folder / name, begin, timeout)
        if how != "completed" or not isinstance(data, dict):
            raise UsageError(str(data))
        return data
