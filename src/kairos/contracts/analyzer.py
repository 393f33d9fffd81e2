"""Analyzer, TCP 1382: header and message types of the dump.

Generated from src/contracts/analyzer.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = ["PORT", "MESSAGE", "HEAD", "Message", "Exception", "Pair"]

PORT = 1382
"""TCP port of the service. The client sends nothing."""

MESSAGE = 32
"""Length of a message in bytes."""

HEAD = 16
"""Length of the header in bytes."""


class Message(IntEnum):
    """Message type, bits 1..0."""

    OUTPUT = 0
    """An output event was submitted."""
    INPUT = 1
    """An input event was read."""
    EXCEPTION = 2
    """An exception; the address field holds `Exception`."""
    STOPPED = 3
    """The analyzer was disabled."""


class Exception(IntEnum):
    """Type of an exception, in the address field of an exception message."""

    UNDERFLOW = 20
    """An output was submitted too late."""
    OVERFLOW = 33
    """An input FIFO was full."""


class Pair(IntEnum):
    """A unit that holds two messages of outputs or inputs. The values are the lowest bits of its fields in the 32-byte
    little-endian number; a field ends where the next one begins."""

    OLDER_DATA = 0
    """Data of the older message."""
    OLDER_SLACK = 32
    """Slack of the older message: timestamp minus counter in machine units, signed."""
    NEWER_DATA = 64
    """Data of the newer message."""
    NEWER_SLACK = 96
    """Slack of the newer message."""
    OLDER_COUNTER = 128
    """Counter of the older message in coarse cycles (8 machine units)."""
    OLDER_TYPE = 189
    """Type of the older message: 0 output, 1 input."""
    NEWER_TYPE = 190
    """Type of the newer message."""
    UNUSED = 191
    """Reserved, 0."""
    OLDER_CHANNEL = 192
    """Channel of the older message."""
    OLDER_ADDRESS = 208
    """Address of the older message."""
    NEWER_ADDRESS = 216
    """Address of the newer message."""
    NEWER_COUNTER_LOW = 224
    """Low bits of the newer message's counter."""
    MARK = 231
    """1 in a pair, 0 in every other unit."""
    NEWER_COUNTER_HIGH = 232
    """Next higher bits of the newer message's counter. The remaining bits equal those of the older one."""
    NEWER_CHANNEL = 240
    """Channel of the newer message."""
