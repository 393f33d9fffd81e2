"""The lines that a program prints, read by a thread of its own and kept: a signal may interrupt whoever waits for
them at any instant, and who waits again finds them all."""

import threading
from collections.abc import Iterable

__all__ = ["Lines"]


class Lines:
    """The lines of a stream."""

    def __init__(self):
        self._lines: list[str] = []
        self._is_whole = False
        self._changed = threading.Event()

    def read(self, stream: Iterable[str]):
        """Read the stream to its end."""
        for line in stream:
            self._lines.append(line)
            self._changed.set()
        self._is_whole = True
        self._changed.set()

    def after(self, number: int, timeout: float) -> tuple[list[str], bool]:
        """Return the lines after the first `number`, and whether those are all there will be. Waits up to `timeout`
        seconds for one."""
        while True:
            self._changed.clear()
            is_whole = self._is_whole
            if (lines := self._lines[number:]) or is_whole or not self._changed.wait(timeout):
                return lines, is_whole
