"""The TCP connection under a kernel session: greeting, framing, time limits, and one clear message for each failure.

A message is ``5a 5a 5a 5a``, a type byte and a payload whose length only its type tells; nothing resynchronises the
stream, so any surprise ends the connection.
"""

import socket
import struct

from ..errors import ConnectionLost, DeviceUnreachable
from ..exceptions import UnsupportedDevice
from ..network.connect import ClosedAtOnce, connect
from .codec import ProtocolError

__all__ = ["Connection", "SYNC"]

GREETING = b"ARTIQ coredev\n"
SYNC = b"\x5a\x5a\x5a\x5a"

CONNECT_TIMEOUT = 10.0
"""Seconds in which the device must accept a connection and answer the greeting; it may be restarting."""

REPLY_TIMEOUT = 30.0
"""Seconds in which the device must answer a request that it serves at once (all but a running kernel)."""


class Connection:
    """An open connection; `read` blocks until it has all the bytes it was asked for."""

    def __init__(self, host: str, port: int, timeout: float = CONNECT_TIMEOUT):
        self.where = f"{host}, port {port}"
        self._buffer = b""
        self._position = 0
        self._pending: list[bytes] = []
        try:
            self._socket, answer = connect(host, port, GREETING, timeout)
        except ClosedAtOnce:
            raise UnsupportedDevice(
                f"the connection to {self.where} was closed at once: what listens there is not a core device, or it is "
                "shutting down"
            ) from None
        except ConnectionRefusedError:
            raise DeviceUnreachable(
                f"the core device at {self.where} refuses connections: is it running, and is 'host' of 'core' in the "
                "device database right?"
            ) from None
        except socket.gaierror as error:
            raise DeviceUnreachable(
                f"the address '{host}' of the core device is unknown ({error.strerror}): check 'host' of 'core' in the "
                "device database"
            ) from None
        except TimeoutError:
            raise DeviceUnreachable(
                f"no answer from the core device at {self.where} within {timeout:g} s: is it on, has it booted, and is "
                "'host' of 'core' in the device database right?"
            ) from None
        except OSError as error:
            raise DeviceUnreachable(
                f"no way to the core device at {self.where} ({error.strerror}): check the network and 'host' of 'core' "
                "in the device database"
            ) from None
        self._configure()
        self._check(answer)

    def _configure(self):
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        # Notice a dead device after about ten seconds, also while a kernel runs and nothing is sent.
        for name, value in (("TCP_KEEPIDLE", 4), ("TCP_KEEPINTVL", 2), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, name):
                self._socket.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)

    def _check(self, answer):
        if answer == b"e":
            return
        self.close()
        if answer == b"E":
            raise UnsupportedDevice(
                f"the core device at {self.where} is big-endian; kernels are compiled for the little-endian Cortex-A9"
            )
        raise UnsupportedDevice(
            f"what answers at {self.where} is not a core device (it sent 0x{answer[0]:02x}): check 'host' of "
            "'core' in the device database"
        )

    def close(self):
        self._socket.close()

    # Reading

    def set_reply_expected(self, expected: bool):
        """Whether the device owes an answer, so that silence is an error; a running kernel may be silent for ever."""
        self._socket.settimeout(REPLY_TIMEOUT if expected else None)

    def read(self, count: int) -> bytes:
        """Exactly `count` bytes; ConnectionLost if they do not come."""
        while len(self._buffer) - self._position < count:
            self._buffer = self._buffer[self._position :] + self._receive(count)
            self._position = 0
        data = self._buffer[self._position : self._position + count]
        self._position += count
        return data

    def _receive(self, count):
        missing = count - (len(self._buffer) - self._position)
        chunks = []
        while missing > 0:
            try:
                chunk = self._socket.recv(max(65536, missing))
            except TimeoutError:
                raise ConnectionLost(
                    f"the core device at {self.where} stopped answering (nothing for {REPLY_TIMEOUT:g} s): see its "
                    "log, or restart it"
                ) from None
            except OSError as error:
                raise ConnectionLost(self._lost(error.strerror or str(error))) from None
            if not chunk:
                raise ConnectionLost(self._lost("it closed the connection"))
            chunks.append(chunk)
            missing -= len(chunk)
        return b"".join(chunks)

    def _lost(self, why):
        return (
            f"the connection to the core device at {self.where} was lost ({why}): it may have restarted, hit a "
            "fault, or be in use by another client; its log says more"
        )

    def read_u8(self) -> int:
        return self.read(1)[0]

    def read_u32(self) -> int:
        return int.from_bytes(self.read(4), "little")

    def read_struct(self, layout: str) -> tuple:
        """Fields of the little-endian `struct` layout."""
        layout = "<" + layout
        return struct.unpack(layout, self.read(struct.calcsize(layout)))

    def read_bytes(self) -> bytes:
        return self.read(self.read_u32())

    def read_string(self) -> str:
        return self.read_bytes().decode("utf-8", errors="replace")

    def read_header(self) -> int:
        """Type of the next message. What comes before its synchronisation word is skipped."""
        window = self.read(4)
        skipped = 0
        while window != SYNC:
            window = window[1:] + self.read(1)
            skipped += 1
            if skipped > 4096:
                raise ProtocolError("the device sends data that is not the kernel session protocol")
        return self.read_u8()

    # Writing

    def write(self, data: bytes):
        """Queue `data`; `flush` sends it."""
        self._pending.append(data)

    def write_header(self, message_type: int):
        self.write(SYNC + bytes([message_type]))

    def write_bytes(self, data: bytes):
        self.write(len(data).to_bytes(4, "little") + data)

    def flush(self):
        data, self._pending = b"".join(self._pending), []
        try:
            self._socket.sendall(data)
        except TimeoutError:
            raise ConnectionLost(self._lost("it does not take data")) from None
        except OSError as error:
            raise ConnectionLost(self._lost(error.strerror or str(error))) from None
