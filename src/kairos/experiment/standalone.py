"""The devices ``scheduler`` and ``ccb`` of an experiment that is run by hand, without a master.

There is one run and nobody who waits for it: it is never asked to pause or to end, and what it submits is only
reported, on standard output, since there is nothing that would run it.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["SingleRun", "Unheard"]


@dataclass
class SingleRun:
    """The scheduler as the only run there is sees it; the fields are what the run may ask about itself."""

    rid: int = 0
    pipeline_name: str = "main"
    priority: int = 0
    expid: dict | None = None
    _later: Iterator[int] = field(default_factory=lambda: itertools.count(1), repr=False)
    """Numbers for what is submitted."""

    def submit(self, pipeline_name=None, expid=None, priority=None, due_date=None, flush=False) -> int:
        """Report the submission; the number that the run would have, a new one each time."""
        _ignored("submission", f": {expid!r}")
        return next(self._later)

    def delete(self, rid):
        """Report the deletion."""
        _ignored(f"deletion of run {rid}")

    def get_status(self) -> dict:
        """The runs that wait or go on elsewhere: none."""
        return {}

    def check_pause(self, rid=None) -> bool:
        """Whether another run wants to go first: never."""
        return False

    def check_termination(self, rid=None) -> bool:
        """Whether somebody wants the run to end: never."""
        return False

    def pause(self):
        """Let others go first; there are none."""


def _ignored(what: str, details: str = ""):
    print(f"{what} ignored, there is no scheduler{details}")


class Unheard:
    """Takes commands to user interfaces where there are none."""

    def issue(self, service, *args, **kwargs):
        """Broadcast a command; nobody listens."""
