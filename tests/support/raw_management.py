"""A client of the management service on a bare socket, written only from the description of the
wire protocol."""

import struct

from . import TIMEOUT
from .connection import Connection


class Management(Connection):
    """A connection to the management service, greeted unless specified otherwise."""

    def __init__(self, device, greeting=b"ARTIQ management\n\0", patience=TIMEOUT):
        super().__init__(device, 1380, greeting or b"", patience)
        if greeting is not None:
            assert self.read(1) == b"e"

    def reply(self, request):
        """Return the type of the reply to a request without further content."""
        self.write(request)
        return self.read(1)[0]

    @staticmethod
    def pack(data):
        return struct.pack("<I", len(data)) + data

    def log(self):
        assert self.reply(b"\x01") == 2
        return self.bytes().decode()

    def failure_reason(self):
        """Return why the latest request that was answered by Error has failed."""
        assert self.reply(b"\x88") == 2
        return self.bytes().decode()

    def config_read(self, key):
        """Return the value, or None after an Error."""
        kind = self.reply(b"\x0c" + self.pack(key))
        assert kind in (6, 7)
        return self.bytes() if kind == 7 else None

    def config_write(self, key, value):
        """Return whether the reply was Success."""
        kind = self.reply(b"\x0d" + self.pack(key) + self.pack(value))
        assert kind in (1, 6)
        return kind == 1

    def config_remove(self, key):
        return self.reply(b"\x0e" + self.pack(key)) == 1
