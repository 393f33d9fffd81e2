"""ARTIQ's asyncio client of monitor and injector, over the messages of `kairos.network.moninj`."""

import asyncio
import logging
from collections.abc import Callable
from enum import IntEnum

from ..contracts.moninj import GREETING, PORT, Report, Request
from ..errors import ConnectionLost, DeviceUnreachable
from ..network.moninj import Override, Probe, ReportDecoder, message

__all__ = ["CommMonInj", "TTLOverride", "TTLProbe"]

logger = logging.getLogger(__name__)


class TTLProbe(IntEnum):
    """Probes of a TTL."""

    level = Probe.LEVEL
    oe = Probe.OUTPUT_ENABLE


class TTLOverride(IntEnum):
    """Overrides of a TTL."""

    en = Override.ENABLE
    level = Override.LEVEL
    oe = Override.OUTPUT_ENABLE


class CommMonInj:
    """A connection with callbacks: `monitor_cb` with channel, probe and value,
    `injection_status_cb` with channel, override and value, `disconnect_cb` without arguments when
    the connection is lost. Each may be None.
    """

    def __init__(
        self,
        monitor_cb: Callable | None,
        injection_status_cb: Callable | None,
        disconnect_cb: Callable | None = None,
    ):
        self._callbacks = {Report.PROBE: monitor_cb, Report.OVERRIDE: injection_status_cb}
        self._disconnected = disconnect_cb
        self._writer: asyncio.StreamWriter | None = None

    async def connect(self, host: str, port: int = PORT):
        """Connect to the device; DeviceUnreachable if it does not answer."""
        try:
            self._reader, self._writer = await asyncio.open_connection(host, port)
        except OSError as error:
            raise DeviceUnreachable(f"no monitor at {host}, port {port} ({error}): is the device on?") from None
        self._writer.write(GREETING)
        self._listener = asyncio.create_task(self._listen())

    async def close(self):
        """Disconnect; overrides remain in effect."""
        writer, self._writer = self._writer, None
        if writer is not None:
            self._listener.cancel()
            await asyncio.wait([self._listener])
            writer.close()

    def monitor_probe(self, enable, channel, probe):
        """Enable or disable reports of a probe's value: the current one at once, then every change."""
        self._send(Request.WATCH_PROBE, channel, probe, bool(enable))

    def monitor_injection(self, enable, channel, overrd):
        """Enable or disable reports of an override's value: the current one at once, then every
        change."""
        self._send(Request.WATCH_OVERRIDE, channel, overrd, bool(enable))

    def inject(self, channel, override, value):
        """Set an override."""
        self._send(Request.INJECT, channel, override, value)

    def get_injection_status(self, channel, override):
        """Request a single report of an override's value."""
        self._send(Request.GET_OVERRIDE, channel, override)

    def _send(self, request, *values):
        if self._writer is None:
            raise ConnectionLost("the monitor is not connected: await connect() first")
        self._writer.write(message(request, *values))

    async def _listen(self):
        """Pass the device's reports to the callbacks until the connection ends."""
        try:
            decoder = ReportDecoder()
            while received := await self._reader.read(4096):
                for kind, *values in decoder.decode(received):
                    if self._callbacks[kind] is not None:
                        self._callbacks[kind](*values)
            logger.info("the monitor has closed the connection")
        except (OSError, ValueError) as error:
            logger.info("the connection to the monitor was lost: %s", error)
        if self._disconnected is not None:
            self._disconnected()
