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
_WHOLE = ("0.0.0.0", "::")
"""All addresses of IPv4, and of IPv6."""
_PASSED_OVER = ("::1", "::")
"""Addresses that are wanted only where there is IPv6."""
ATTEMPTS = 20
BACKLOG = 256


def bound(addresses, port: int, purpose: str) -> list[socket.socket]:
    """Bind a socket to each address, with the same port, which the system chooses for 0; UsageError
    if that is impossible. ``*`` stands for all addresses. Addresses of which another one is a part, or the same, are
    served by that one. Where there is no IPv6, its addresses in ``*`` and `LOCAL` are passed over."""
    for _ in range(ATTEMPTS):
        try:
            return _bound(addresses, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise UsageError(
                    f"port {port} for {purpose} cannot be opened at {error.filename!r}: {error.strerror}"
                ) from None
            if port == 0:
                continue  # free on one address, in use on another
            raise UsageError(
                f"port {port} for {purpose} cannot be opened: {error.strerror}; is another laboratory running?"
            ) from None
    raise UsageError(f"no port for {purpose} is free on all of {', '.join(addresses)}")


def _bound(addresses, port: int) -> list[socket.socket]:
    sockets: list[socket.socket] = []
    try:
        for family, place in _places(addresses, port):
            try:
                sockets.append(_socket(family, (place[0], port, *place[2:])))
            except OSError as error:
                if place[0] in _PASSED_OVER and error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    continue
                error.filename = place[0]
                raise
            port = sockets[-1].getsockname()[1]
    except BaseException:
        for connection in sockets:
            connection.close()
        raise
    return sockets


def _places(addresses, port: int) -> list[tuple[int, tuple]]:
    """Return family and address of each socket that is needed, none twice."""
    found: dict[tuple[int, tuple], None] = {}
    for address in addresses:
        host = None if address == "*" else address
        try:
            known = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        except (OSError, UnicodeError) as error:
            raise OSError(errno.EINVAL, getattr(error, "strerror", "it is no name of a computer"), address) from None
        found |= {(family, place): None for family, *_, place in sorted(set(known), key=lambda place: place[0])}
    whole = {family for family, place in found if place[0] in _WHOLE}
    return [(family, place) for family, place in found if family not in whole or place[0] in _WHOLE]


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
