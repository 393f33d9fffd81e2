"""The scheduler as a run sees it, in its own process: it goes on without a laboratory, and is asked in tight loops."""

import time

from ..schedule.services import AskedScheduler

__all__ = ["OwnScheduler"]

AGAIN = 0.02
"""Seconds for which the answer that a run may go on holds: many experiments ask hundreds of times a second, and each
question costs the laboratory a quarter of a millisecond."""


class OwnScheduler(AskedScheduler):
    """The scheduler of a run. `link`: to the laboratory, see `link.Link`; `rest` as for `AskedScheduler`. Without a
    laboratory nothing wants the run to pause."""

    def __init__(self, link, *rest):
        super().__init__(self._asked, *rest)
        self._link = link
        self._may_go_on: dict[str, float] = {}
        """By question: when it was answered with no last, on the monotonic clock."""

    def _asked(self, service, *args, **kwargs):
        try:
            return self._link.ask(service, *args, **kwargs)
        finally:
            self._may_go_on.clear()  # what was asked for may have changed it

    def check_pause(self, rid=None) -> bool:
        """Return whether a run, by default this one, should pause or terminate."""
        return self._is_wanted("scheduler.check_pause", rid)

    def check_termination(self, rid=None) -> bool:
        """Return whether a run, by default this one, should terminate."""
        return self._is_wanted("scheduler.check_termination", rid)

    def _is_wanted(self, question: str, rid) -> bool:
        if rid is not None and rid != self.rid:
            return self._link.ask_if_there(False, question, rid)
        now = time.monotonic()
        if now < self._may_go_on.get(question, now - AGAIN) + AGAIN:
            return False
        found = self._link.ask_if_there(False, question, self.rid)
        if not found:
            self._may_go_on[question] = time.monotonic()
        return found
