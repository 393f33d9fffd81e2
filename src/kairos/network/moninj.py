"""Client of monitor and injector of a core device (TCP 1383): monitors levels of pins and overrides them.

A probe is an observable of a channel, an override a setting that replaces the experiment's. Those
of a TTL are the members of `Probe` and `Override`.
"""

from collections import deque
from enum import IntEnum
from typing import NamedTuple

from .. import _native
from ..contracts.moninj import GREETING, PORT, Report, Request
from ..errors import ConnectionLost, DeviceUnreachable
from .connect import connect

__all__ = ["MonInj", "Override", "PORT", "Probe", "ReportDecoder", "Seen", "message"]

CONNECT_TIMEOUT = 15.0
"""Seconds for which a device may be restarting."""


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


def message(request: Request, channel: int, number: int, value: int = 0) -> bytes:
    """Encode a request about a probe or an override. `value`: whether to start a watch, or the
    value to inject."""
    return _native.wire.moninj_request(request, channel, number, value)


class ReportDecoder:
    """Decodes the reports of a device from bytes in pieces of any size."""

    def __init__(self):
        self._decoder = _native.wire.ReportDecoder()

    def decode(self, received: bytes) -> list[Seen]:
        """Return the reports that these bytes complete. ValueError for one of unknown type."""
        return [Seen(Report(kind), *fields) for kind, *fields in self._decoder.decode(received)]


class MonInj:
    """A connection to monitor and injector of the device at `host`; DeviceUnreachable if it does not answer."""

    def __init__(self, host: str, port: int = PORT, patience: float = CONNECT_TIMEOUT):
        self._where = f"{host}, port {port}"
        # The greeting has no answer, so a request is sent with it.
        question = message(Request.GET_OVERRIDE, 0, 0)
        try:
            self._socket, first = connect(host, port, GREETING + question, patience)
        except OSError as error:
            raise DeviceUnreachable(f"no monitor at {self._where} ({error}): is the device on?") from None
        self._decoder = ReportDecoder()
        self._reports: deque[Seen] = deque()
        self._decode(first)
        self.next()

    def watch(self, channel: int, probe: int = Probe.LEVEL, enable: bool = True):
        """Start or stop reporting a probe: its current value at once, then each change."""
        self._send(message(Request.WATCH_PROBE, channel, probe, enable))

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
            while not self._reports:
                received = self._socket.recv(4096)
                if not received:
                    raise ConnectionResetError("closed by the device")
                self._decode(received)
        except TimeoutError:
            return None
        except OSError as error:
            raise ConnectionLost(f"the connection to the monitor at {self._where} was lost ({error})") from None
        return self._reports.popleft()

    def _decode(self, received: bytes):
        try:
            self._reports += self._decoder.decode(received)
        except ValueError as error:
            self.close()
            raise ConnectionLost(f"the monitor at {self._where} violated its protocol: {error}") from None

    def close(self):
        """Disconnect; overrides remain in effect."""
        self._socket.close()

    def _send(self, message: bytes):
        try:
            self._socket.sendall(message)
        except OSError as error:
            raise ConnectionLost(f"the connection to the monitor at {self._where} was lost ({error})") from None
