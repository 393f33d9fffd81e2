"""A WebSocket of the hub's page, `/live`: the raw frames of RFC 6455, and the messages in them."""

import os
import socket
import struct
import time

from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from . import TIMEOUT

__all__ = ["Live"]

BINARY, CLOSE, PING, PONG = 2, 8, 9, 10
UPGRADE = (
    "GET /live HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n{}\r\n"
)


class Live:
    """A WebSocket with the cookie of a client; `status` is that of HTTP, 101 if it is open. `pool`: describes the hub's
    messages."""

    def __init__(self, address: str, token: str | None, pool: DescriptorPool):
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), TIMEOUT)
        cookie = "" if token is None else f"Cookie: kairos-token={token}\r\n"
        self._socket.sendall(UPGRADE.format(address, cookie).encode())
        self._file = self._socket.makefile("rb")
        self.status = int(self._file.readline().split()[1])
        while self._file.readline().strip():
            pass
        self._classes = [
            GetMessageClass(pool.FindMessageTypeByName(f"kairos.hub.v1.{name}"))
            for name in ("LiveRequest", "LiveResponse")
        ]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()
        self._socket.close()

    def call(self, stream: int, method: str, request: bytes = b"", credit: int = 1):
        """Call a method."""
        call = {"method": method, "request": request, "credit": credit}
        self._send(BINARY, self._classes[0](stream=stream, call=call).SerializeToString())

    def credit(self, stream: int, count: int):
        """Let so many more responses of a stream come."""
        self._send(BINARY, self._classes[0](stream=stream, credit=count).SerializeToString())

    def _send(self, opcode: int, payload: bytes):
        length = len(payload)
        head = bytes([0x80 | length]) if length < 126 else b"\xfe" + struct.pack(">H", length)
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
        self._socket.sendall(bytes([0x80 | opcode]) + head + mask + masked)

    def receive(self):
        """Return the next message of the hub; at the end, (code, reason) of its closing; None if it is cut."""
        end = time.monotonic() + TIMEOUT  # the hub's pings keep the socket's own timeout from ending
        while head := self._file.read(2):
            assert time.monotonic() < end, "the hub sends nothing but pings"
            opcode, length = head[0] & 0xF, head[1]
            if length >= 126:
                form = ">H" if length == 126 else ">Q"
                (length,) = struct.unpack(form, self._file.read(struct.calcsize(form)))
            payload = self._file.read(length)
            if opcode == BINARY:
                return self._classes[1].FromString(payload)
            if opcode == CLOSE:
                return struct.unpack(">H", payload[:2])[0], payload[2:].decode()
            if opcode == PING:
                self._send(PONG, payload)
        return None
