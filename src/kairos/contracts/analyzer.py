"""Analyzer, TCP 1382: the dump's head and the kinds of its messages.

Generated from src/contracts/analyzer.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = ["PORT", "MESSAGE", "HEAD", "Message", "Exception", "Pair"]

PORT = 1382
"""TCP port of the service. The client sends nothing."""

MESSAGE = 32
"""Bytes of a message."""

HEAD = 16
"""Bytes of the head."""


class Message(IntEnum):
    """Types of messages, bits 1..0."""

    OUTPUT = 0
    """An event was submitted."""
    INPUT = 1
    """An event was read."""
    EXCEPTION = 2
    """Something went wrong: `Exception` in the place of the address."""
    STOPPED = 3
    """The analyzer was switched off."""


class Exception(IntEnum):
    """What an exception message tells of, in the place of the address."""

    UNDERFLOW = 20
    """An output came too late."""
    OVERFLOW = 33
    """An input FIFO was full."""


class Pair(IntEnum):
    """A unit that holds two messages, of outputs and inputs: the lowest bit of each field, counted in the little-endian
    number of its 32 bytes. A field ends where the next one begins."""

    OLDER_DATA = 0
    """Data of the older message."""
    OLDER_SLACK = 32
    """Its timestamp minus its counter, machine units, signed."""
    NEWER_DATA = 64
    """Data of the newer message."""
    NEWER_SLACK = 96
    """Its slack."""
    OLDER_COUNTER = 128
    """The older one's counter, in coarse cycles: times 8 is machine units."""
    OLDER_TYPE = 189
    """Its type: 0 output, 1 input."""
    NEWER_TYPE = 190
    """The newer one's type."""
    UNUSED = 191
    """0."""
    OLDER_CHANNEL = 192
    """The older one's channel."""
    OLDER_ADDRESS = 208
    """Its address."""
    NEWER_ADDRESS = 216
    """The newer one's address."""
    NEWER_COUNTER_LOW = 224
    """Low bits of its counter."""
    MARK = 231
    """1 in a pair, 0 in every other unit."""
    NEWER_COUNTER_HIGH = 232
    """The bits above them. All others are those of the older one's counter."""
    NEWER_CHANNEL = 240
    """The newer one's channel."""
