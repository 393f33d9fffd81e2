"""Listening: the same port on several addresses, sockets in folders, whose paths may be longer than their names can
be, and servers that handle each connection in a task of its own."""

import asyncio
import errno
import os
import socket
import ssl
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import UsageError

__all__ = ["LINE_LIMIT", "LOCAL", "StreamServer", "bound", "dialled", "unix_socket"]

LOCAL = ("127.0.0.1", "::1")
"""Addresses of this computer only."""
ATTEMPTS = 20
BACKLOG = 256
LINE_LIMIT = 4 << 20
"""Bytes of a line, for servers that read line by line."""


def bound(addresses, port: int, purpose: str) -> list[socket.socket]:
    """Bind a socket to each address, with the same port, which the system chooses for 0; UsageError
    if that is impossible. An address of IPv6 is passed over where there is no IPv6; ``*`` stands for all."""
    for _ in range(ATTEMPTS):
        try:
            return _bound(addresses, port)
        except OSError as error:
            if port == 0 and error.errno == errno.EADDRINUSE:
                continue  # free on one address, in use on another
            raise UsageError(
                f"port {port} for {purpose} cannot be opened: {error.strerror or error}; is another laboratory running?"
            ) from None
    raise UsageError(f"no port for {purpose} is free on all of {', '.join(addresses)}")


def _bound(addresses, port: int) -> list[socket.socket]:
    sockets: list[socket.socket] = []
    try:
        for address in addresses:
            for family, *_, place in _places(address, port):
                try:
                    sockets.append(_socket(family, (place[0], port, *place[2:])))
                except OSError as error:
                    if family == socket.AF_INET6 and error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                        continue
                    raise
                port = sockets[-1].getsockname()[1]
    except BaseException:
        for connection in sockets:
            connection.close()
        raise
    return sockets


def _places(address: str, port: int):
    host = None if address == "*" else address
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return sorted(set(found), key=lambda place: place[0])


def _socket(family, place) -> socket.socket:
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            connection.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        connection.bind(place)
        connection.listen(BACKLOG)
        connection.setblocking(False)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _named(path: Path) -> Iterator[tuple[socket.socket, str]]:
    """Yield a new socket, and a short name for its path, valid meanwhile."""
    folder = os.open(path.parent, os.O_PATH)
    connection = socket.socket(socket.AF_UNIX)
    try:
        yield connection, f"/proc/self/fd/{folder}/{path.name}"
    except BaseException:
        connection.close()
        raise
    finally:
        os.close(folder)


def unix_socket(path: Path) -> socket.socket:
    """Return a listening socket at `path` for this user only."""
    path.unlink(missing_ok=True)
    with _named(path) as (connection, name):
        connection.bind(name)
        path.chmod(0o600)
        connection.listen(BACKLOG)
        connection.setblocking(False)
    return connection


def dialled(path: Path) -> socket.socket:
    """Return a socket that is connected to the one at `path`; OSError."""
    with _named(path) as (connection, name):
        connection.connect(name)
    return connection


class StreamServer(ABC):
    """Handles each connection in a task of its own, which `stop` cancels."""

    buffered = 1 << 16
    """Limit of a connection's `asyncio.StreamReader` in bytes: no longer line can be read by its `readline`."""

    def __init__(self):
        self._servers: list[asyncio.Server] = []
        self._connections: set[asyncio.Task] = set()

    async def listen(self, host, port, **more) -> asyncio.Server:
        """Listen on `host` (an address, several, or None for all) and `port`, which the system chooses for 0;
        `more`: as of `asyncio.start_server`."""
        self._servers.append(await asyncio.start_server(self._accepted, host, port, limit=self.buffered, **more))
        return self._servers[-1]

    async def serve_on(self, connection: socket.socket, encryption: ssl.SSLContext | None = None):
        """Listen on a socket that is bound, of any family; may be called several times."""
        start = asyncio.start_unix_server if connection.family == socket.AF_UNIX else asyncio.start_server
        server = await start(self._accepted, sock=connection, limit=self.buffered, ssl=encryption)
        self._servers.append(server)

    async def stop(self):
        """Close all connections and stop listening."""
        for server in self._servers:
            server.close()
        connections = list(self._connections)
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        for server in self._servers:
            await server.wait_closed()

    async def _accepted(self, reader, writer):
        connection = asyncio.current_task()
        self._connections.add(connection)
        try:
            await self._handle(reader, writer)
        finally:
            self._connections.discard(connection)
            writer.close()

    @abstractmethod
    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        """Handle a connection until it ends."""
