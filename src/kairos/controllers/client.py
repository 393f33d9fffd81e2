"""Clients of controllers: blocking, asyncio, and best-effort, which drops calls while disconnected."""

import logging
import socket
import threading

from .wire import (
    GREETING,
    LINE_LIMIT,
    AutoTarget,
    ControllerError,
    Incompatible,
    TooLong,
    choose,
    client_encryption,
    keep_alive,
    read,
    result,
    selected,
    version_of,
    written,
)

__all__ = ["AsyncClient", "BestEffortClient", "Client"]

logger = logging.getLogger(__name__)


class _Proxy:
    """An object with the methods of a target: each attribute is a remote method."""

    _methods: frozenset | None = None
    _version = 2
    """Version of PYON that the server speaks."""

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if self._methods is not None and name not in self._methods:
            raise AttributeError(f"the {self._peer} has no method {name!r}")

        def method(*args, **kwargs):
            return self._call({"action": "call", "name": name, "args": args, "kwargs": kwargs})

        method.__name__ = method.__qualname__ = name
        return method

    def get_rpc_method_list(self):
        """Return the target's description: its docstring, and its methods with their arguments and
        docstrings."""
        return self._call({"action": "get_rpc_method_list"})

    def get_rpc_id(self):
        """Return the names of the server's targets, and its description."""
        return self._greeting["targets"], self._greeting.get("description")

    def get_selected_target(self):
        """Return the name of the selected target."""
        return self._target


class Client(_Proxy):
    """The target `target_name` of the controller at `host` and `port`, connected at once; calls
    wait for the reply.

    `timeout`: seconds to wait for a line, or None. ControllerError if there is no connection or it
    is lost; the next call reconnects.
    """

    _limit = LINE_LIMIT
    """Maximum bytes of an answer; -1: there is none."""

    def __init__(self, host, port, target_name=AutoTarget, timeout=None, ssl_config=None):
        self._place = host, port
        self._peer = f"controller at {host}, port {port}"
        self._wanted, self._timeout, self._encryption = target_name, timeout, client_encryption(ssl_config)
        self._stream = None
        self._lock = threading.RLock()
        self._connect()

    def _dial(self) -> socket.socket:
        connection = socket.create_connection(self._place, self._timeout)
        keep_alive(connection)
        return connection

    def _connect(self):
        try:
            connection = self._dial()
            if self._encryption is not None:
                connection = self._encryption.wrap_socket(connection)
        except OSError as error:
            raise ControllerError(f"no {self._peer} ({error}): is it running? `kairos controllers` starts it") from None
        self._socket, self._stream = connection, connection.makefile("rwb")
        try:
            self._greeting = self._exchange(GREETING)
            self._target = choose(self._greeting, self._wanted, self._peer)
            self._version = version_of(self._greeting)
            self._methods = frozenset(self._exchange(selected(self._greeting, self._target)))
        except BaseException:
            self.close_rpc()
            raise

    def _exchange(self, request):
        """Send a line and return the line that answers it. TypeError for what cannot be encoded, which costs the
        connection nothing."""
        line = written(request, self._version)
        try:
            self._stream.write(line)
            self._stream.flush()
            answer = self._stream.readline(self._limit)
            if 0 < self._limit <= len(answer) and not answer.endswith(b"\n"):
                raise TooLong(self._limit)
            return read(answer, self._peer)
        except BaseException as error:
            # A late answer would be mistaken for that of the next call.
            self.close_rpc()
            if isinstance(error, OSError):
                raise ControllerError(f"the {self._peer} does not answer ({error})") from None
            raise

    def _call(self, request):
        with self._lock:
            if self._stream is None:
                self._connect()
            reply = self._exchange(request)
        return result(reply, self._peer)

    def close_rpc(self):
        """Close the connection."""
        if self._stream is not None:
            stream, self._stream = self._stream, None
            self._socket.close()
            try:
                stream.close()
            except OSError:
                logger.debug("closing the %s failed", self._peer, exc_info=True)

    def set_timeout(self, timeout):
        """Set the seconds to wait for a line, or None."""
        self._timeout = timeout
        if self._stream is not None:
            self._socket.settimeout(timeout)


class AsyncClient(_Proxy):
    """An asyncio client: the methods are coroutines; calls of several tasks are serialised."""

    def __init__(self):
        import asyncio  # imported late: it takes longer than all else here, and experiments do not need it

        self._peer = "controller that is not connected"
        self._writer = None
        self._lock = asyncio.Lock()
        self._open = asyncio.open_connection

    async def connect_rpc(self, host, port, target_name=AutoTarget, ssl_config=None):
        """Connect to a target; ControllerError if that fails."""
        self._peer = f"controller at {host}, port {port}"
        try:
            encryption = client_encryption(ssl_config)
            self._reader, self._writer = await self._open(host, port, ssl=encryption, limit=LINE_LIMIT)
            keep_alive(self._writer.get_extra_info("socket"))
        except OSError as error:
            raise ControllerError(f"no {self._peer} ({error}): is it running? `kairos controllers` starts it") from None
        try:
            self._greeting = await self._exchange(GREETING)
            self._target = choose(self._greeting, target_name, self._peer)
            self._version = version_of(self._greeting)
            self._methods = frozenset(await self._exchange(selected(self._greeting, self._target)))
        except BaseException:
            self.close_rpc()
            raise

    async def _exchange(self, request):
        if self._writer is None:
            raise ControllerError(f"the {self._peer} is not connected: await connect_rpc() first")
        line = written(request, self._version)
        try:
            self._writer.write(line)
            await self._writer.drain()
            return read(await self._reader.readline(), self._peer)
        except BaseException as error:
            self.close_rpc()
            if isinstance(error, ValueError):  # of the stream
                raise TooLong(LINE_LIMIT) from None
            if isinstance(error, OSError):
                raise ControllerError(f"the {self._peer} does not answer ({error})") from None
            raise

    async def _call(self, request):
        async with self._lock:
            reply = await self._exchange(request)
        return result(reply, self._peer)

    def close_rpc(self):
        """Close the connection."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class BestEffortClient(_Proxy):
    """A target that an experiment can do without: while it is unreachable, calls are dropped and
    return None.

    `firstcon_timeout`: timeout in seconds of the first attempt. `retry`: seconds between attempts,
    which a background thread makes. Calls wait for the reply, at most `timeout` seconds.
    """

    def __init__(
        self, host, port, target_name=AutoTarget, firstcon_timeout=1.0, retry=5.0, timeout=10.0, ssl_config=None
    ):
        self._peer = f"controller at {host}, port {port}"
        self._arguments = host, port, target_name
        self._settings = {"ssl_config": ssl_config}
        self._retry, self._timeout = retry, timeout
        self._client = None
        self._closed = threading.Event()
        self._lost = threading.Event()
        try:
            self._open(firstcon_timeout)
        except Incompatible:
            raise
        except ControllerError as error:
            logger.warning("%s; calls of it are dropped meanwhile", error)
            self._lost.set()
        self._thread = threading.Thread(target=self._keep_open, daemon=True, name=f"retry of {self._peer}")
        self._thread.start()

    def _open(self, timeout):
        client = Client(*self._arguments, timeout=timeout, **self._settings)
        client.set_timeout(self._timeout)
        self._client = client

    def _keep_open(self):
        while True:
            self._lost.wait()
            if self._closed.wait(self._retry):
                return
            try:
                self._open(self._timeout)
            except (ControllerError, OSError):
                continue
            self._lost.clear()
            logger.warning("the %s is there again", self._peer)

    @property
    def _methods(self):
        return self._client._methods if self._client is not None else None

    def _call(self, request):
        if self._lost.is_set() or self._closed.is_set():
            return None
        try:
            return self._client._call(request)
        except ControllerError as error:
            logger.warning("%s; calls of it are dropped until it is there again", error)
            self._lost.set()
            return None

    def get_rpc_id(self):
        """As in `Client`; None if there was never a connection."""
        return self._client.get_rpc_id() if self._client is not None else None

    def get_selected_target(self):
        """As in `Client`; None if there was never a connection."""
        return self._client.get_selected_target() if self._client is not None else None

    def close_rpc(self):
        """Close the connection and stop reconnecting."""
        self._closed.set()
        self._lost.set()
        self._thread.join(1.0)
        if self._client is not None:
            self._client.close_rpc()
