"""Between the firmware of two boards: numbers of the messages (`docs/gateware/link.md`).

Generated from src/contracts/link.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = ["VERSION", "PACKET_MAX", "DESTINATION_MASTER", "WINDOW", "TEXT_MAX", "Message", "Service"]

VERSION = 1
"""Version of the protocol."""

PACKET_MAX = 1024
"""Longest packet in bytes, head and CRC included: what the mailbox takes."""

DESTINATION_MASTER = 0
"""Destination of the board with the network."""

WINDOW = 4096
"""Bytes of a stream that an end has room for."""

TEXT_MAX = 64
"""Longest text of a hello or a refusal, and longest payload of a ping, in bytes."""


class Message(IntEnum):
    """Messages. Numbers are little endian; a stream is named by one byte, which the end nearer to the master
    chooses."""

    HELLO = 1
    """Who I am; the first message of a satellite."""
    WELCOME = 2
    """Answer to a hello: what you are called."""
    DESCRIBE = 3
    """Send your descriptor from here on."""
    DESCRIPTION = 4
    """A piece of the gateware's descriptor."""
    PING = 5
    """Send this back."""
    PONG = 6
    """What a ping had."""
    OPEN = 8
    """Begin a stream of bytes."""
    REFUSE = 9
    """There is no such service, or no room."""
    DATA = 10
    """Bytes of a stream: no more than the other end has said it has room for, and at the beginning `WINDOW`."""
    CREDIT = 11
    """There is room for so many more bytes."""
    CLOSE = 12
    """No more bytes come. A stream ends when both have said so."""


class Service(IntEnum):
    """What a stream is for."""

    MANAGEMENT = 1
    """Requests of management, as on TCP 1380 behind the destination (wire protocols, section 2)."""
