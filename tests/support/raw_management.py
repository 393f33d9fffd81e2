"""A client of the management service on a bare socket, written from the description of the wire protocol alone."""

import socket
import struct

TIMEOUT = 20.0


class Closed(Exception):
    """The device has closed the connection."""


class Management:
    def __init__(self, device, greeting=b"ARTIQ management\n\0"):
        self.socket = socket.create_connection((device.host, device.ports[1380]), TIMEOUT)
        self.socket.settimeout(TIMEOUT)
        if greeting is not None:
            self.socket.sendall(greeting)
            assert self.read(1) == b"e"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def read(self, count):
        data = b""
        while len(data) < count:
            try:
                more = self.socket.recv(count - len(data))
            except ConnectionError:
                more = b""
            if not more:
                raise Closed
            data += more
        return data

    def bytes(self):
        return self.read(struct.unpack("<I", self.read(4))[0])

    def reply(self, request):
        """The type of the reply to a request without further content."""
        self.send(request)
        return self.read(1)[0]

    @staticmethod
    def pack(data):
        return struct.pack("<I", len(data)) + data

    def log(self):
        assert self.reply(b"\x01") == 2
        return self.bytes().decode()

    def config_read(self, key):
        """The value, or None after an Error."""
        kind = self.reply(b"\x0c" + self.pack(key))
        assert kind in (6, 7)
        return self.bytes() if kind == 7 else None

    def config_write(self, key, value):
        """Whether the reply was Success."""
        kind = self.reply(b"\x0d" + self.pack(key) + self.pack(value))
        assert kind in (1, 6)
        return kind == 1

    def config_remove(self, key):
        return self.reply(b"\x0e" + self.pack(key)) == 1
