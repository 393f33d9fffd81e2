"""A TCP connection to a device, on a bare socket: shared by the clients of all its services."""

import socket
import struct

import pytest

from . import TIMEOUT


class Closed(Exception):
    """The device has closed the connection, or refused it."""


class Connection:
    """A connection to the device's service on a device port, which `device.ports` maps to the
    host's. `patience`: seconds until the device must have answered."""

    def __init__(self, device, port, greeting=b"", patience=TIMEOUT):
        self.socket = socket.create_connection((device.host, device.ports[port]), patience)
        self._ahead = b""
        self.write(greeting)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        self.socket.close()

    def reset(self):
        """Close it abortively, with a reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def write(self, data):
        """Send these bytes unchanged."""
        self.socket.sendall(data)

    def write_slowly(self, data):
        """Send these bytes one by one."""
        for byte in data:
            self.socket.sendall(bytes([byte]))

    def write_all(self, data, slowly=False):
        """Send these bytes and shut down sending. The device may already have closed: then not all
        are sent."""
        try:
            (self.write_slowly if slowly else self.write)(data)
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def read(self, count):
        """Read `count` bytes; Closed if the stream ends before."""
        data, self._ahead = self._ahead[:count], self._ahead[count:]
        while len(data) < count:
            if not (more := self._receive(count - len(data))):
                raise Closed
            data += more
        return data

    def peek(self, count):
        """Read bytes without consuming them."""
        self._ahead = self.read(count) + self._ahead
        return self._ahead[:count]

    def read_all(self):
        """Read everything until the device closes the connection."""
        data, self._ahead = self._ahead, b""
        while more := self._receive(65536):
            data += more
        return data

    def unpack(self, layout):
        """Read little-endian values by a `struct` layout; a single one is not a tuple."""
        values = struct.unpack("<" + layout, self.read(struct.calcsize("<" + layout)))
        return values[0] if len(values) == 1 else values

    def bytes(self):
        """Read bytes prefixed by their length, u32."""
        return self.read(self.unpack("I"))

    def _receive(self, limit):
        try:
            return self.socket.recv(limit)
        except ConnectionError:
            return b""


def assert_closed(connection):
    """Assert that the device sends nothing more, and closes."""
    with pytest.raises(Closed):
        connection.read(1)
