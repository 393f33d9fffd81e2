"""Connecting to a service of a core device, which may be restarting.

A restarting device does not respond for some seconds and loses connections that were begun before,
so waiting on one of those is futile. Then, for a moment, its network is up before its services are.
Attempts are therefore short and repeated.
"""

import errno
import socket
import time

__all__ = ["ClosedAtOnce", "connect"]

ATTEMPT = 1.0
"""Seconds within which a running device accepts a connection and answers the greeting."""
REFUSED = 2.0
"""Seconds for which a device may refuse; longer than the startup from its network to its services.
"""
PAUSE = 0.1
"""Seconds between two attempts."""


class ClosedAtOnce(ConnectionError):
    """The connection was established, and closed before an answer."""


def connect(host: str, port: int, greeting: bytes, patience: float) -> tuple[socket.socket, bytes]:
    """Connect; returns the connection and the first byte of the answer to the greeting.

    `patience`: seconds for which a device may be silent. Raises the error of the last attempt:
    TimeoutError, ClosedAtOnce, or another OSError.
    """
    began = time.monotonic()
    while True:
        left = began + patience - time.monotonic()
        try:
            return _attempt(host, port, greeting, max(PAUSE, min(ATTEMPT, left)))
        except OSError as error:
            silent = isinstance(error, TimeoutError) or error.errno == errno.EHOSTUNREACH
            refused = isinstance(error, ConnectionRefusedError | ClosedAtOnce)
            limit = patience if silent else min(REFUSED, patience) if refused else 0
            if time.monotonic() - began + PAUSE >= limit:
                raise
        time.sleep(PAUSE)


def _attempt(host, port, greeting, timeout) -> tuple[socket.socket, bytes]:
    connection = socket.create_connection((host, port), timeout=timeout)
    try:
        try:
            connection.sendall(greeting)
            answer = connection.recv(1)
        except ConnectionError:
            answer = b""
        if not answer:
            raise ClosedAtOnce("closed at once")
        return connection, answer
    except BaseException:
        connection.close()
        raise
