"""Signals that end a command like Ctrl-C, so that the results of a run are still written: from a job scheduler,
`timeout`, a service manager, or a closed terminal."""

import signal
import threading

__all__ = ["Terminated", "code_of", "end_orderly"]

_NAMES = ("SIGTERM", "SIGHUP")


class Terminated(KeyboardInterrupt):
    """The signal `number` has come."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


def code_of(interruption: KeyboardInterrupt) -> int:
    """The exit code, as a shell has it: 128 and the number of the signal."""
    return 128 + getattr(interruption, "number", signal.SIGINT)


def _end(number, _frame):
    signal.signal(number, signal.SIG_DFL)  # another one ends it at once
    raise Terminated(number)


def end_orderly():
    """From now on; but for signals that are ignored (`nohup`), and in other threads than the first."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _end)
