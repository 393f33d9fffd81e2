"""Servers of controllers: objects whose public methods can be called remotely."""

import asyncio
import inspect
import logging
import signal
from contextlib import nullcontext

from .. import pyon
from .listening import StreamServer
from .wire import (
    FEATURE,
    GREETING,
    GREETING_MAX,
    LINE_LIMIT,
    ControllerError,
    Incompatible,
    Lines,
    TooLong,
    described,
    keep_alive,
    read,
    server_encryption,
    written,
)

__all__ = ["Server", "serve"]

logger = logging.getLogger(__name__)


class Server(StreamServer):
    """Serves `targets`, a dictionary of objects by name; `description` is returned to clients on
    request.

    Methods whose names have no leading underscore can be called; they may be coroutines. Calls are
    serialised, also across clients, unless `allow_parallel`. With `builtin_terminate` clients can
    stop the server by calling ``terminate``. A request of more than `limit` bytes is refused; what is as long
    before a target is selected closes the connection.
    """

    def __init__(
        self, targets, description=None, builtin_terminate=False, allow_parallel=False, limit: int = LINE_LIMIT
    ):
        super().__init__()
        self.targets = dict(targets)
        self.description = description
        self._builtin_terminate = builtin_terminate
        self._turn = nullcontext() if allow_parallel else asyncio.Lock()
        self._ended = asyncio.Event()
        self._limit = limit

    async def start(self, host, port, ssl_config=None):
        """Listen on `host` (an address, several, or None for all) and `port`; returns the port,
        which the system chooses for 0. `ssl_config`: files, see `wire`."""
        server = await self.listen(host, port, ssl=server_encryption(ssl_config))
        return server.sockets[0].getsockname()[1]

    def terminate(self):
        """Stop the server, as clients can."""
        self._ended.set()

    async def wait_terminate(self):
        """Wait until a client has called ``terminate``."""
        await self._ended.wait()

    async def _handle(self, reader, writer):
        keep_alive(writer.get_extra_info("socket"))
        peer = "client at {}, port {}".format(*(writer.get_extra_info("peername") or ("?", "?"))[:2])
        try:
            await self._session(reader, writer, peer)
        except (ControllerError, OSError) as error:
            logger.debug("%s: %s", peer, error)
        except asyncio.CancelledError:
            pass

    async def _session(self, reader, writer, peer):
        version = 2

        async def answer(value):
            writer.write(written(value, version))
            await writer.drain()

        lines = Lines(reader)
        if (await lines.next(GREETING_MAX)).strip() != GREETING.encode():
            raise Incompatible("it does not send the greeting of a pc_rpc client")
        await answer({"targets": sorted(self.targets), "description": self.description, "features": [FEATURE]})
        wanted = (await lines.next(GREETING_MAX)).decode(errors="replace").split()
        name = next(iter(self.targets), None) if not wanted else wanted[0]
        if name not in self.targets:
            raise Incompatible(f"it requests the target {name!r}, which does not exist")
        if set(wanted[1:]) - {FEATURE}:
            raise Incompatible(f"it requests the features {' '.join(wanted[1:])}; there is {FEATURE}")
        version = 2 if FEATURE in wanted[1:] else 1
        target = self.targets[name]
        if inspect.isclass(target):  # one object per client
            target = target()
        await answer(self._methods(target))
        while line := await self._request(lines, answer):
            await answer(await self._reply(target, read(line, peer), version))

    async def _request(self, lines: Lines, answer) -> bytes:
        """Return the next request that is not too long; empty at the end of the stream."""
        while True:
            try:
                return await lines.next(self._limit)
            except TooLong as error:
                if not await lines.skip():
                    return b""
                await answer(described(ValueError(str(error))))

    def _methods(self, target) -> set[str]:
        found = {name for name, member in inspect.getmembers(target, callable) if not name.startswith("_")}
        return found | ({"terminate"} if self._builtin_terminate else set())

    async def _reply(self, target, request, version: int) -> str:
        """Return the line that answers a request; errors are returned as answers too."""
        try:
            value = await self._done(target, request)
            return pyon.encode({"status": "ok", "ret": value}, version)
        except Exception as error:
            return pyon.encode(described(error), version)

    async def _done(self, target, request):
        match request:
            case {"action": "get_rpc_method_list"}:
                return self._manual(target)
            case {"action": "call", "name": "terminate"} if self._builtin_terminate:
                self.terminate()
                return None
            case {"action": "call", "name": str(name), "args": args, "kwargs": kwargs} if name in self._methods(target):
                return await self._called(getattr(target, name), args, kwargs)
            case {"action": "call", "name": name}:
                raise AttributeError(f"{name}: there is no such method")
        raise ValueError("a request is a call or get_rpc_method_list")

    async def _called(self, method, args, kwargs):
        async with self._turn:
            value = method(*args, **kwargs)
            return await value if inspect.isawaitable(value) else value

    def _manual(self, target) -> dict:
        """Return docstring and methods of a target: for each its arguments and docstring."""
        methods = {}
        for name in sorted(self._methods(target) - {"terminate"}):
            method = getattr(target, name)
            try:
                names = inspect.getfullargspec(method)
            except TypeError:  # implemented in C
                continue
            arguments = {
                "args": names.args,
                "varargs": names.varargs,
                "varkw": names.varkw,
                "defaults": None if names.defaults is None else tuple(map(_sendable, names.defaults)),
                "kwonlyargs": names.kwonlyargs,
                "kwonlydefaults": {key: _sendable(value) for key, value in (names.kwonlydefaults or {}).items()},
                "annotations": {key: _text(value) for key, value in names.annotations.items()},
            }
            methods[name] = arguments, inspect.getdoc(method)
        return {"docstring": inspect.getdoc(target), "methods": methods}


def _sendable(value):
    """Return a default value, or its text if PYON cannot represent it."""
    try:
        pyon.encode(value)
        return value
    except TypeError:
        return repr(value)


def _text(annotation) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def serve(targets, host, port, description=None, allow_parallel=False, *, ssl_config=None, started=None):
    """Serve targets until the process is asked to terminate or a client calls ``terminate``;
    `started` is called with the port once clients can connect."""

    async def run():
        server = Server(targets, description, builtin_terminate=True, allow_parallel=allow_parallel)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, server.terminate)
        bound = await server.start(host, port, ssl_config)
        if started is not None:
            started(bound)
        try:
            await server.wait_terminate()
        finally:
            await server.stop()

    asyncio.run(run())
