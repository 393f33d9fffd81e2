"""A TCP connection to a device, on a bare socket: what the clients of all its services have in common."""

import socket
import struct

import pytest

from . import PATIENCE


class Closed(Exception):
    """The device has closed the connection, or refused it."""


class Connection:
    """A connection to the device's service on this port of its own, by which `device.ports` knows the host's."""

    def __init__(self, device, port, greeting=b""):
        self.socket = socket.create_connection((device.host, device.ports[port]), PATIENCE)
        self._ahead = b""
        self.write(greeting)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        self.socket.close()

    def reset(self):
        """Close it without an orderly end: with a reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def write(self, data):
        """Send these bytes as they are."""
        self.socket.sendall(data)

    def write_slowly(self, data):
        """Send them one by one."""
        for byte in data:
            self.socket.sendall(bytes([byte]))

    def write_all(self, data, slowly=False):
        """Send them, then say that nothing more comes. The device may have closed before: then not all are sent."""
        try:
            (self.write_slowly if slowly else self.write)(data)
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def read(self, count):
        """So many bytes; Closed if they end before."""
        data, self._ahead = self._ahead[:count], self._ahead[count:]
        while len(data) < count:
            if not (more := self._receive(count - len(data))):
                raise Closed
            data += more
        return data

    def peek(self, count):
        """The same, and they will be read again."""
        self._ahead = self.read(count) + self._ahead
        return self._ahead[:count]

    def read_all(self):
        """Everything until the device closes the connection."""
        data, self._ahead = self._ahead, b""
        while more := self._receive(65536):
            data += more
        return data

    def unpack(self, layout):
        """Little-endian values as `struct` has them; one alone not as a tuple."""
        values = struct.unpack("<" + layout, self.read(struct.calcsize("<" + layout)))
        return values[0] if len(values) == 1 else values

    def bytes(self):
        """Bytes behind their length, u32."""
        return self.read(self.unpack("I"))

    def _receive(self, limit):
        try:
            return self.socket.recv(limit)
        except ConnectionError:
            return b""


def assert_closed(connection):
    """The device has nothing more to say, and closes."""
    with pytest.raises(Closed):
        connection.read(1)
