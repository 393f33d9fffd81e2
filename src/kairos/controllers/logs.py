"""Lines of a log: from processes that print them, and from programs that send them over TCP.

A record is the line ``LEVEL:name:message``, or ``LEVEL<n>:name:message`` and n - 1 further lines of
the message. Over TCP the first line begins with ``source:``. What is not in this form is output of
`print`: the level is INFO, the name ``print``.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Iterator

from .listening import LINE_LIMIT, StreamServer
from .wire import keep_alive

__all__ = ["LEVELS", "LogReceiver", "Records", "parsed"]

LEVELS = logging.getLevelNamesMapping() | {"TRACE": 5}
"""Levels by name: Python's, and the one of firmware below DEBUG."""
GREETING = b"ARTIQ logging"
SOURCE_LIMIT = 256
"""Characters of the name of a source."""

_HEAD = re.compile(r"([A-Z]+)(?:<(\d{1,6})>)?:([^:]*):(.*)", re.DOTALL)


def parsed(line: str) -> tuple[int, int, str, str]:
    """Return level, number of lines, name and the first line of the message of a record."""
    match = _HEAD.fullmatch(line)
    if match is None or match[1] not in LEVELS:
        return logging.INFO, 1, "print", line
    return LEVELS[match[1]], max(1, int(match[2] or 1)), match[3], match[4]


class Records:
    """Puts lines together to records: (level, ``name:message``). One that exceeds `LINE_LIMIT` characters is cut off:
    its other lines follow as records of their own."""

    def __init__(self):
        self._lines: list[str] = []
        self._level = self._missing = self._size = 0

    def add(self, line: str) -> Iterator[tuple[int, str]]:
        """Add a line without its end; yields the record that it completes."""
        if self._missing:
            self._lines.append(line)
            self._missing -= 1
        else:
            self._level, count, name, message = parsed(line)
            self._lines, self._missing, self._size = [f"{name}:{message}"], count - 1, 0
        self._size += len(line)
        if self._size > LINE_LIMIT:
            self._missing = 0
        if not self._missing:
            yield self._level, "\n".join(self._lines)

    def rest(self) -> Iterator[tuple[int, str]]:
        """Yield the record that was cut off, if any."""
        if self._missing:
            self._missing = 0
            yield self._level, "\n".join(self._lines)


class LogReceiver(StreamServer):
    """Receives records over TCP and passes each on: ``take(source, level, "name:message")``."""

    buffered = LINE_LIMIT

    def __init__(self, take: Callable[[str, int, str], None]):
        super().__init__()
        self._take = take

    async def _handle(self, reader, writer):
        keep_alive(writer.get_extra_info("socket"))
        try:
            if (await reader.readline()).strip() == GREETING:
                await self._receive(reader)
        except (OSError, ValueError, asyncio.CancelledError):
            pass  # ValueError: a line beyond the limit

    async def _receive(self, reader):
        while line := await reader.readline():
            source, separator, rest = line.decode(errors="replace").rstrip("\n").partition(":")
            if not separator or len(source) > SOURCE_LIMIT:
                return
            records = Records()
            found = list(records.add(rest))
            while not found:
                line = await reader.readline()
                found = list(records.add(line.decode(errors="replace").rstrip("\n")) if line else records.rest())
            self._take(source, *found[0])
