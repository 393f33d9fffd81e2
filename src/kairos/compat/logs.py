"""Lines of logs in the form of `kairos.controllers.logs`, with the names of ``sipyco.logging_tools``."""

import asyncio
import logging
import queue

from ..controllers.logs import GREETING, Records
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
        self._records = Records()

    def line_input(self, line: str):
        """Read a line; its record is logged once it is complete."""
        for level, record in self._records.add(line):
            name, _, message = record.partition(":")
            log_with_name(name, level, "%s", message, extra={"source": self.source_cb()})

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
                    writer.write(GREETING + b"\n")
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
