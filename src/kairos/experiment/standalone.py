"""The devices ``scheduler`` and ``ccb`` of an experiment that is run by hand, without a master.

There is one run and nobody who waits for it: it is never asked to pause, nor to end but by itself,
and what it submits is only reported, on standard output, since there is nothing that would run it.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..language.core import TerminationRequested

__all__ = ["SingleRun", "TerminationRequested", "Unheard"]


@dataclass
class SingleRun:
    """The scheduler as the only run there is sees it; the fields are what the run may ask about itself."""

    rid: int = 0
    pipeline_name: str = "main"
    priority: int = 0
    expid: dict | None = None
    _later: Iterator[int] = field(default_factory=lambda: itertools.count(1), repr=False)
    """Numbers for what is submitted."""
    _to_end: bool = field(default=False, repr=False)
    """It has asked itself to end."""

    def submit(self, pipeline_name=None, expid=None, priority=None, due_date=None, flush=False) -> int:
        """Report the submission; the number that the run would have, a new one each time."""
        _ignored("submission", f": {expid!r}")
        return next(self._later)

    def delete(self, rid):
        """Report the deletion."""
        _ignored(f"deletion of run {rid}")

    def request_termination(self, rid):
        """Ask a run to end, at its next `pause`; only this one hears it."""
        if rid == self.rid:
            self._to_end = True
        else:
            _ignored(f"termination of run {rid}")

    def get_status(self) -> dict:
        """The runs that wait or go on elsewhere: none."""
        return {}

    def check_pause(self, rid=None) -> bool:
        """Whether another run wants to go first, which there is not, or this one is to end."""
        return self.check_termination(rid)

    def check_termination(self, rid=None) -> bool:
        """Whether the run is to end."""
        return self._to_end and rid in (None, self.rid)

    def pause(self):
        """Let others go first, which there are not; TerminationRequested if the run is to end."""
        if self._to_end:
            raise TerminationRequested("the run requested its own termination")


def _ignored(what: str, details: str = ""):
    print(f"{what} ignored, there is no scheduler{details}")


class Unheard:
    """Takes commands to user interfaces where there are none."""

    def issue(self, service, *args, **kwargs):
        """Broadcast a command; nobody listens."""
