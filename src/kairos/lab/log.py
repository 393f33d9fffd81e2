"""The log of a laboratory: of itself, its runs, and everybody who sends to it."""

import logging
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path

from ..cli.printed import print_notice
from ..controllers.publishing import Broadcaster
from ..files import reason
from ..terminal_text import record_lines
from . import clock

__all__ = ["Log"]

KEPT = 10_000
"""Records that are remembered."""
MOST_TEXT = 32 << 20
"""Characters of them at most."""
FILE_SIZE, FILES = 10 << 20, 5
OWN = "master"
"""Name of the laboratory as a source, which clients know."""


class _File(RotatingFileHandler):
    """The file. That it cannot be written is said once, in a line, and no reason to end anything."""

    _is_failing = False
    _has_failed = False

    def emit(self, record):
        self._has_failed = False
        super().emit(record)
        self._is_failing = self._has_failed

    def handleError(self, record):
        self._has_failed = True
        error = sys.exc_info()[1]
        if not self._is_failing and error is not None:
            print_notice(f"kairos: the log {self.baseFilename} cannot be written: {reason(error)}")


class Log(logging.Handler):
    """Receives records, remembers the newest, sends them to whoever follows the channel ``log``,
    and writes them to a file."""

    def __init__(self, broadcaster: Broadcaster, path: Path):
        super().__init__()
        self._broadcaster = broadcaster
        self.recent: deque[tuple] = deque()
        """(level, source, seconds of Unix time, text)."""
        self._size = 0
        """Characters of their texts."""
        self.watchers: list[Callable[[list[tuple]], None]] = []
        """Called with new records."""
        self._file = _File(path, maxBytes=FILE_SIZE, backupCount=FILES, delay=True, errors="backslashreplace")
        self._file.setFormatter(logging.Formatter("%(message)s"))
        self.setFormatter(logging.Formatter("%(name)s:%(message)s"))

    def take(self, source: str, level: int, text: str):
        """Take a record; `text`: ``name:message``."""
        record = (level, source, clock.now(), text)
        self.recent.append(record)
        self._size += len(text)
        while len(self.recent) > KEPT or self._size > MOST_TEXT:
            self._size -= len(self.recent.popleft()[3])
        for watcher in self.watchers:
            watcher([record])
        self._broadcaster.broadcast("log", record)
        name = logging.getLevelName(level)
        line = record_lines(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {name} {source}", text)
        self._file.handle(logging.LogRecord(source, level, "", 0, line, None, None))

    def emit(self, record):
        try:
            self.take(OWN, record.levelno, self.format(record))
        except Exception:  # as every handler
            self.handleError(record)

    def close(self):
        with suppress(OSError):  # what a full disk did not take
            self._file.close()
        super().close()
