"""The devices ``scheduler`` and ``ccb`` of an experiment that runs standalone, without a master.

There is a single run and no queue: it is never asked to pause, terminates only at its own request,
and its submissions are only reported on standard output, since nothing would run them.
"""

import itertools

from ..language.core import TerminationRequested

__all__ = ["SingleRun", "TerminationRequested", "IgnoredCommands"]


class SingleRun:
    """The scheduler of a single run; the attributes are the run's own properties."""

    def __init__(self, rid: int = 0, pipeline_name: str = "main", priority: int = 0, expid: dict | None = None) -> None:
        self.rid, self.pipeline_name, self.priority, self.expid = rid, pipeline_name, priority, expid
        self._later = itertools.count(1)
        """Numbers for submissions."""
        self._to_end = False
        """Whether the run has requested its own termination."""

    def submit(self, pipeline_name=None, expid=None, priority=None, due_date=None, flush=False) -> int:
        """Report the submission; returns the number that the run would have, a new one each time."""
        _ignored("submission", f": {expid!r}")
        return next(self._later)

    def delete(self, rid):
        """Report the deletion."""
        _ignored(f"deletion of run {rid}")

    def request_termination(self, rid):
        """Request termination at the next `pause`; affects only this run."""
        if rid == self.rid:
            self._to_end = True
        else:
            _ignored(f"termination of run {rid}")

    def get_status(self) -> dict:
        """Return the other waiting and active runs: none."""
        return {}

    def check_pause(self, rid=None) -> bool:
        """Return whether this run should terminate; no other run ever waits."""
        return self.check_termination(rid)

    def check_termination(self, rid=None) -> bool:
        """Return whether the run should terminate."""
        return self._to_end and rid in (None, self.rid)

    def pause(self):
        """Raise TerminationRequested if the run should terminate; no other run ever waits."""
        if self._to_end:
            raise TerminationRequested("the run requested its own termination")


def _ignored(request: str, details: str = ""):
    print(f"{request} ignored, there is no scheduler{details}")


class IgnoredCommands:
    """Accepts commands to user interfaces where there are none."""

    def issue(self, service, *args, **kwargs):
        """Ignore a broadcast command."""
