"""Sockets: the same port on several addresses, and in folders, whose paths may be longer than their names can be."""

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import UsageError

__all__ = ["LOCAL", "bound", "dialled", "unix_socket"]

LOCAL = ("127.0.0.1", "::1")
"""Addresses of this computer only."""
ATTEMPTS = 20
BACKLOG = 256


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
