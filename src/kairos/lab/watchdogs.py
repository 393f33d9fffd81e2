"""Watchdogs of a run: ``with watchdog(seconds)``."""

import threading
import time
from contextlib import contextmanager

__all__ = ["Watchdogs"]


class Watchdogs:
    """Ends this process when a watchdog expires; time in pauses does not count."""

    def __init__(self, expired):
        self._expired = expired
        self._timers: dict[int, list] = {}
        self._next = 0

    @contextmanager
    def watched(self, seconds):
        """Context of ``with watchdog(seconds)``."""
        number, self._next = self._next, self._next + 1
        self._timers[number] = [float(seconds), None, 0.0]
        self._start(number)
        try:
            yield
        finally:
            self._stop(number)
            del self._timers[number]

    def _start(self, number):
        timer = threading.Timer(self._timers[number][0], self._expired)
        timer.daemon = True
        self._timers[number][1:] = [timer, time.monotonic()]
        timer.start()

    def _stop(self, number):
        left, timer, started = self._timers[number]
        timer.cancel()
        self._timers[number][0] = left - (time.monotonic() - started)

    @contextmanager
    def stopped(self):
        """Context of a pause."""
        for number in self._timers:
            self._stop(number)
        yield
        for number in self._timers:
            self._start(number)
