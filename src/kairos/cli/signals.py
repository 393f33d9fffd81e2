"""Signals that end a command, as exceptions: Ctrl-C, and those of a job scheduler, `timeout`, a
service manager or a closed terminal. Whichever and however many arrive, the results of a run are
still written.
"""

import signal
import threading
import time
from contextlib import contextmanager

__all__ = ["Terminated", "code_of", "end_orderly", "held"]

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
SAME_S = 1.0
"""Seconds within which further signals are the same wish: a key that bounces, or a job scheduler
that signals a process and its group."""


class Terminated(KeyboardInterrupt):
    """The signal `number` was received."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


def code_of(interruption: KeyboardInterrupt) -> int:
    """Return the exit code as in a shell: 128 plus the number of the signal."""
    return 128 + getattr(interruption, "number", signal.SIGINT)


class _Arrivals:
    """The signals of this process."""

    def __init__(self):
        self._raised = float("-inf")
        self._held = 0
        self._waiting: int | None = None

    def arrived(self, number, _frame):
        """Handle a signal: raise `Terminated`, unless one has just been raised."""
        if time.monotonic() - self._raised < SAME_S:
            return
        if self._held:
            self._waiting = number
            return
        self._raised = time.monotonic()
        raise Terminated(number)

    @contextmanager
    def held(self):
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
        if self._waiting is not None and not self._held:
            number, self._waiting = self._waiting, None
            self.arrived(number, None)


_arrivals = _Arrivals()
held = _arrivals.held
"""Context in which a signal is not raised, but at its end."""


def end_orderly():
    """Install the handlers, except for ignored signals (`nohup`), and only in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _arrivals.arrived)
