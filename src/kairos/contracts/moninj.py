"""Monitor and injector, TCP 1383: message numbers.

Generated from src/contracts/moninj.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = ["PORT", "PROXY_PORT", "GREETING", "Field", "Request", "Report"]

PORT = 1383
"""TCP port of the service."""

PROXY_PORT = 1384
"""TCP port of the proxy on the host through which dashboards access the service."""

GREETING = b"ARTIQ moninj\n"
"""Greeting sent by the client. The device does not answer it."""


class Field(IntEnum):
    """A field of a message; numbers are little endian."""

    ENABLE = 0
    """u8: start (not 0) or stop."""
    CHANNEL = 1
    """u32: bits 23..16 DRTIO destination, bits 15..0 channel within it."""
    NUMBER = 2
    """u8: probe or override of the channel."""
    LEVEL = 3
    """u8: value of an override."""
    READING = 4
    """u64: value of a probe."""


class Request(IntEnum):
    """Requests of the host."""

    WATCH_PROBE = 0
    """Start or stop watching a probe."""
    INJECT = 1
    """Set the value of an override."""
    GET_OVERRIDE = 2
    """Request the value of an override once."""
    WATCH_OVERRIDE = 3
    """Start or stop watching an override."""


class Report(IntEnum):
    """Messages of the device."""

    PROBE = 0
    """Value of a probe."""
    OVERRIDE = 1
    """Value of an override."""
