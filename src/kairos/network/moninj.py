"""Client of monitor and injector of a core device (TCP 1383): monitors levels of pins and overrides them.

A probe is an observable of a channel, an override a setting that replaces the experiment's. Those
of a TTL are the members of `Probe` and `Override`.
"""

import struct
from enum import IntEnum
from typing import NamedTuple

from ..contracts.moninj import GREETING, PORT, Field, Report, Request
from ..errors import ConnectionLost, DeviceUnreachable
from .connect import connect

__all__ = ["MonInj", "Override", "PORT", "Probe", "REPORTS", "Seen", "message"]

PATIENCE = 15.0
"""Seconds for which a device may be restarting."""

_FORMS = {Field.ENABLE: "?", Field.CHANNEL: "I", Field.NUMBER: "B", Field.LEVEL: "B", Field.READING: "Q"}
_NAME = (Field.CHANNEL, Field.NUMBER)


def _layout(*fields: Field) -> struct.Struct:
    return struct.Struct("<" + "".join(_FORMS[field] for field in fields))


_REQUESTS = {
    Request.WATCH_PROBE: _layout(Field.ENABLE, *_NAME),
    Request.INJECT: _layout(*_NAME, Field.LEVEL),
    Request.GET_OVERRIDE: _layout(*_NAME),
    Request.WATCH_OVERRIDE: _layout(Field.ENABLE, *_NAME),
}
REPORTS = {Report.PROBE: _layout(*_NAME, Field.READING), Report.OVERRIDE: _layout(*_NAME, Field.LEVEL)}
"""Fields of the device's reports."""


def message(request: Request, *values) -> bytes:
    """Encode a request; its fields are those of the protocol, in order."""
    return bytes([request]) + _REQUESTS[request].pack(*values)


class Probe(IntEnum):
    """Probes of a TTL."""

    LEVEL = 0
    OUTPUT_ENABLE = 1


class Override(IntEnum):
    """Overrides of a TTL."""

    ENABLE = 0
    LEVEL = 1
    OUTPUT_ENABLE = 2


class Seen(NamedTuple):
    """A value reported by the device: of the probe or the override `number` of a channel."""

    kind: Report
    channel: int
    number: int
    value: int


class MonInj:
    """A connection to monitor and injector of the device at `host`; DeviceUnreachable if it does not answer."""

    def __init__(self, host: str, port: int = PORT, patience: float = PATIENCE):
        self._where = f"{host}, port {port}"
        # The greeting has no answer, so a request is sent with it.
        question = message(Request.GET_OVERRIDE, 0, 0)
        try:
            self._socket, first = connect(host, port, GREETING + question, patience)
        except OSError as error:
            raise DeviceUnreachable(f"no monitor at {self._where} ({error}): is the device on?") from None
        self._buffer = bytearray(first)
        self.next()

    def watch(self, channel: int, probe: int = Probe.LEVEL, enable: bool = True):
        """Start or stop reporting a probe: its current value at once, then each change."""
        self._send(message(Request.WATCH_PROBE, enable, channel, probe))

    def inject(self, channel: int, override: int, value: int):
        """Set an override."""
        self._send(message(Request.INJECT, channel, override, value))

    def ask(self, channel: int, override: int):
        """Request one report of an override."""
        self._send(message(Request.GET_OVERRIDE, channel, override))

    def next(self, timeout: float | None = None) -> Seen | None:
        """Return the next report; None if none arrives within `timeout` seconds. ConnectionLost."""
        self._socket.settimeout(timeout)
        try:
            self._fill(1)
            kind = Report(self._buffer[0])
            length = 1 + REPORTS[kind].size
            self._fill(length)
        except TimeoutError:
            return None
        except (OSError, ValueError) as error:
            raise ConnectionLost(f"the connection to the monitor at {self._where} was lost ({error})") from None
        fields = bytes(self._buffer[1:length])
        del self._buffer[:length]
        return Seen(kind, *REPORTS[kind].unpack(fields))

    def _fill(self, length: int):
        """Wait until `length` bytes are buffered; on a timeout the buffered bytes are kept."""
        while len(self._buffer) < length:
            more = self._socket.recv(4096)
            if not more:
                raise ConnectionResetError("closed by the device")
            self._buffer += more

    def close(self):
        """Disconnect; overrides remain in effect."""
        self._socket.close()

    def _send(self, message: bytes):
        try:
            self._socket.sendall(message)
        except OSError as error:
            raise ConnectionLost(f"the connection to the monitor at {self._where} was lost ({error})") from None
