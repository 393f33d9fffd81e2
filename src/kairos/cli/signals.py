"""Signals that end a command, as exceptions: Ctrl-C, and those of a job scheduler, `timeout`, a
service manager or a closed terminal. Whichever and however many arrive, the results of a run are
still written.
"""

import os
import signal
import sys
import threading
import time
from contextlib import contextmanager
from types import FrameType

__all__ = ["Terminated", "code_of", "end_early", "end_orderly", "held"]

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
SAME_S = 1.0
"""Seconds within which further signals are the same wish: a key that bounces, or a job scheduler
that signals a process and its group."""
IMPORT_S = 5.0
"""Seconds for which a signal waits for the import of a library to end."""
RETRY_S = 0.01


def _imports_library(frame: FrameType | None) -> bool:
    """Return whether a library is being imported in `frame`. Many of them cannot be imported again if they were left
    half-way, and what writes the results needs them. A user's own file is no library: it may do anything."""
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith("<frozen importlib"):
            return True
        if code.co_name == "<module>":
            return frame.f_globals.get("__name__") != "__main__" and code.co_filename.startswith(_arrivals.libraries)
        frame = frame.f_back
    return False


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
        self._is_early = False
        self._waiting: int | None = None
        self._since: float | None = None
        self.libraries: tuple[str, ...] = ()
        """Folders of code whose import is not interrupted."""

    def arrived(self, number, frame):
        """Handle a signal: raise `Terminated`, unless one has just been raised, or once a library is imported."""
        now = time.monotonic()
        if now - self._raised < SAME_S:
            return
        if self._held:
            self._waiting = number
            return
        if self._since is None:
            self._since = now
        if now - self._since < IMPORT_S and _imports_library(frame):
            later = threading.Timer(RETRY_S, os.kill, (os.getpid(), number))
            later.daemon = True
            later.start()
            return
        self._since = None
        self._raised = now
        raise Terminated(number)

    def begin_early(self):
        """Hold the signals until `end_early`."""
        self._held += 1
        self._is_early = True

    def end_early(self):
        """Raise what has come since `begin_early`, if that was called."""
        if self._is_early:
            self._is_early = False
            self._held -= 1
            self._raise_waiting()

    @contextmanager
    def held(self):
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
        self._raise_waiting()

    def _raise_waiting(self):
        if self._waiting is not None and not self._held:
            number, self._waiting = self._waiting, None
            self.arrived(number, sys._getframe())


_arrivals = _Arrivals()
end_early = _arrivals.end_early
held = _arrivals.held
"""Context in which a signal is not raised, but at its end."""


def end_orderly():
    """Install the handlers, except for ignored signals (`nohup`), and only in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return
    # Imported late: only what handles signals needs it.
    from ..installed import libraries

    _arrivals.libraries = libraries()
    for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _arrivals.arrived)


if sys.argv[1:2] == ["run"] and os.path.basename(sys.argv[0]) in ("kairos", "-m", "__main__.py"):
    # This module is the first of the command: while the others are imported, signals wait.
    _arrivals.begin_early()
    end_orderly()
