"""Lines of logs, with the names of ``sipyco.logging_tools``.

A record is the line ``LEVEL:name:message``, or ``LEVEL<n>:name:message`` and n - 1 further lines of
the message; what is not in this form is output of `print`, of level INFO.
"""

import asyncio
import logging
import queue
import re

from .tasks import TaskObject

__all__ = [
    "LogForwarder",
    "LogParser",
    "MultilineFormatter",
    "SourceFilter",
    "init_log",
    "log_with_name",
    "multiline_log_config",
]

GREETING = b"ARTIQ logging\n"
RECORD = re.compile(r"([A-Z]+)(?:<(\d{1,6})>)?:([^:]*):(.*)", re.DOTALL)
NAMES = logging.getLevelNamesMapping()


def log_with_name(name, level, *args, **kwargs):
    """Log to the logger `name` at `level`; further arguments as of `logging.Logger.log`."""
    logging.getLogger(name).log(level, *args, **kwargs)


class MultilineFormatter(logging.Formatter):
    """Formats records as lines, with their number if there are several."""

    def __init__(self):
        super().__init__("%(levelname)s:%(name)s:%(message)s")

    def format(self, record):
        lines = super().format(record).split("\n")
        if len(lines) > 1:
            lines[0] = lines[0].replace(":", f"<{len(lines)}>:", 1)
        return "\n".join(lines)


def multiline_log_config(level):
    """Log to standard error in lines that a `LogParser` reads."""
    handler = logging.StreamHandler()
    handler.setFormatter(MultilineFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)


class LogParser:
    """Reads the lines of another process, and logs its records here under ``source_cb()``."""

    def __init__(self, source_cb):
        self.source_cb = source_cb
        self._lines: list[str] = []
        self._missing = 0

    def line_input(self, line: str):
        """Read a line; its record is logged once it is complete."""
        if self._missing:
            self._lines.append(line)
            self._missing -= 1
        else:
            match = RECORD.fullmatch(line)
            known = match is not None and match[1] in NAMES
            self._level = NAMES[match[1]] if known else logging.INFO
            self._name = match[3] if known else "print"
            self._lines = [match[4] if known else line]
            self._missing = max(1, int(match[2] or 1)) - 1 if known else 0
        if not self._missing:
            text = "\n".join(self._lines)
            log_with_name(self._name, self._level, "%s", text, extra={"source": self.source_cb()})

    async def stream_task(self, stream: asyncio.StreamReader):
        """Read a stream until its end."""
        while line := await stream.readline():
            self.line_input(line.decode(errors="replace").rstrip("\r\n"))


class SourceFilter:
    """Gives records of this process their source, and drops those below the level."""

    def __init__(self, master_level, default_source: str):
        self.master_level, self.default_source = master_level, default_source

    def filter(self, record) -> bool:
        if not hasattr(record, "source"):
            record.source = self.default_source
        return record.source != self.default_source or record.levelno >= self.master_level


class LogForwarder(logging.Handler, TaskObject):
    """Sends records to a server of logs, and reconnects every `reconnect_timer` seconds; records that the
    queue of `queue_size` cannot hold are lost."""

    def __init__(self, host, port, reconnect_timer=5.0, queue_size=1000):
        super().__init__()
        self.host, self.port, self.reconnect_timer = host, port, reconnect_timer
        self._queue: queue.Queue = queue.Queue(queue_size)
        self.setFormatter(MultilineFormatter())

    def emit(self, record):
        try:
            self._queue.put_nowait(f"{record.source}:{self.format(record)}\n".encode())
        except queue.Full:
            pass

    async def _do(self):
        while True:
            try:
                _, writer = await asyncio.open_connection(self.host, self.port)
                try:
                    writer.write(GREETING)
                    await self._send(writer)
                finally:
                    writer.close()
            except OSError:
                await asyncio.sleep(self.reconnect_timer)

    async def _send(self, writer):
        while True:
            try:
                line = self._queue.get_nowait()
            except queue.Empty:
                await asyncio.sleep(0.05)
                continue
            writer.write(line)
            await writer.drain()


def init_log(args, default_source: str):
    """Log as the options of ``common_args.verbosity_args`` say, each record with its source."""
    level = logging.WARNING + 10 * (args.quiet - args.verbose)
    multiline_log_config(min(level, logging.INFO))
    chosen = SourceFilter(level, default_source)
    for handler in logging.getLogger().handlers:
        handler.addFilter(chosen)
