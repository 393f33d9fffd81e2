"""Signals that end a command like Ctrl-C, so that the results of a run are still written: from a job scheduler,
`timeout`, a service manager, or a closed terminal."""

import signal
import threading

__all__ = ["Terminated", "code_of", "end_orderly"]

_NAMES = ("SIGTERM", "SIGHUP")


class Terminated(KeyboardInterrupt):
    """The signal `number` was received."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


def code_of(interruption: KeyboardInterrupt) -> int:
    """Return the exit code as in a shell: 128 plus the number of the signal."""
    return 128 + getattr(interruption, "number", signal.SIGINT)


def _end(number, _frame):
    signal.signal(number, signal.SIG_DFL)  # a second signal ends the process at once
    raise Terminated(number)


def end_orderly():
    """Install the handlers, except for ignored signals (`nohup`), and only in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _end)
