"""Analyzer, TCP 1382: the dump's head and the kinds of its messages.

Generated from src/contracts/analyzer.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = ["PORT", "MESSAGE", "HEAD", "Message", "Exception"]

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
