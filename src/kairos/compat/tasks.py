"""Parts of asyncio programs, with the names of ``sipyco.asyncio_tools``."""

import asyncio
import atexit
import signal
from abc import ABC, abstractmethod

from ..controllers.listening import LINE_LIMIT, StreamServer

__all__ = ["AsyncioServer", "Condition", "SignalHandler", "TaskObject", "atexit_register_coroutine"]


class TaskObject(ABC):
    """An object with a task of its own: `start` runs ``_do``, `stop` cancels it and waits for its end."""

    task: asyncio.Task

    def start(self, *, loop=None):
        """Start the task, in the running loop or `loop`."""
        self.task = (loop or asyncio.get_running_loop()).create_task(self._do())

    async def stop(self):
        """Cancel the task; an exception that ended it is raised."""
        self.task.cancel()
        try:
            await self.task
        except asyncio.CancelledError:
            pass

    @abstractmethod
    async def _do(self):
        """What the task does."""


class AsyncioServer(StreamServer):
    """A TCP server whose connections are handled by ``_handle_connection_cr(reader, writer)``."""

    buffered = LINE_LIMIT

    async def start(self, host, port, **more):
        """Listen at `host` and `port`; `more`: for `asyncio.start_server`."""
        self.server = await self.listen(host, port, **more)

    async def _handle(self, reader, writer):
        await self._handle_connection_cr(reader, writer)

    @abstractmethod
    async def _handle_connection_cr(self, reader, writer):
        """Handle a connection until it ends."""


class Condition:
    """Tasks wait until another one notifies them."""

    def __init__(self, *, loop=None):
        self._waiting: list[asyncio.Future] = []

    async def wait(self):
        """Wait for the next `notify`."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            await future
        finally:
            self._waiting.remove(future)

    def notify(self):
        """Let all tasks that wait go on."""
        for future in self._waiting:
            if not future.done():
                future.set_result(None)


class SignalHandler:
    """Waits for the signals that ask a program to end (SIGINT, SIGTERM)."""

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def setup(self):
        """Take the signals over, in the running loop or the main thread's."""
        self._loop = _loop()
        self._ended = asyncio.Event()
        for number in self.SIGNALS:
            self._loop.add_signal_handler(number, self._ended.set)

    def teardown(self):
        """Give the signals back."""
        for number in self.SIGNALS:
            self._loop.remove_signal_handler(number)

    async def wait_terminate(self):
        """Wait for a signal."""
        await self._ended.wait()


def _loop() -> asyncio.AbstractEventLoop:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.get_event_loop_policy().get_event_loop()


def atexit_register_coroutine(coroutine, *args, loop=None):
    """At the end of the program, run a coroutine function in `loop`."""
    chosen = loop or _loop()
    atexit.register(lambda: chosen.run_until_complete(coroutine(*args)))
