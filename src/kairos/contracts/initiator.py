"""Kernel initiator: layout of its rings (`docs/interfaces.md`, section 5).

Generated from src/contracts/initiator.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = [
    "SLOTS",
    "SLOT_BYTES",
    "SLOT_TARGET",
    "SLOT_DATA",
    "SLOT_TIME",
    "SLOT_HEADER",
    "SLOT_WORDS",
    "MAX_WORDS",
    "REPLY",
    "REPLY_STATUS",
    "REPLY_DATA",
    "RING_ALIGNMENT",
    "NUMBER_BITS",
    "CREDIT",
    "ATTENTION",
    "STATUS_SHIFT",
    "POSTED_ERROR",
    "PERMIT",
    "POSTED_WORD",
    "POST",
    "POST_CURSOR",
    "POST_RING",
    "POST_CHANNEL",
    "POST_FLOOR",
    "POST_HEADER",
    "POST_END",
    "INPUT_ENTRIES",
    "INPUT_ENTRY_BYTES",
    "INPUT_CHANNELS",
    "ENTRY_TIME",
    "ENTRY_DATA",
    "ENTRY_FLAGS",
    "ENTRY_NUMBER",
    "ENTRY_EVENT",
    "ENTRY_LOST",
    "ENTRY_MORE",
    "Command",
]

SLOTS = 16
"""Number of requests in the ring."""

SLOT_BYTES = 128
"""Bytes of a request."""

SLOT_TARGET = 0
"""Offset in a slot: channel << 8 | address, u32."""

SLOT_DATA = 4
"""Offset in a slot: data word 0, u32."""

SLOT_TIME = 8
"""Offset in a slot: event time or timeout in machine units, i64."""

SLOT_HEADER = 16
"""Offset in a slot: 2 * number of the request u16, command u8, number of data words u8."""

SLOT_WORDS = 20
"""Offset in a slot: data words from 1 on."""

MAX_WORDS = 16
"""Data words of the longest output."""

REPLY = 2048
"""Offset of the reply: input timestamp or progress, i64."""

REPLY_STATUS = 2056
"""Offset of the status word, u32."""

REPLY_DATA = 2060
"""Offset of input data, or of the first posted output that failed, u32."""

RING_ALIGNMENT = 4096
"""The ring begins at a multiple of this."""

NUMBER_BITS = 15
"""Request numbers count modulo 2 to the power of this."""

CREDIT = 15
"""Maximum number of requests in flight. Bits 15..1 of the status word are the number of the newest request answered +
this."""

ATTENTION = 1
"""Status word: a lane, or the pool of a core that reorders, is nearly full, or a posted output failed."""

STATUS_SHIFT = 16
"""Status word, unless it is open: RTIO status of the newest request answered, in 4 bits from here on."""

POSTED_ERROR = 2097152
"""Status word, unless it is open: a posted output failed since `initiator_clear`."""

PERMIT = 4194304
"""Status word, unless it is open: a permit is active."""

POSTED_WORD = 0x102_0000
"""Head of a posted output of one word, without its number. In the upper half of the status word: it is open, that is,
its status is 0, a permit is active, and no posted output has failed."""

POST = 2272
"""Offset in the ring of the structure exported as `rtio_post_2`."""

POST_CURSOR = 0
"""Offset in this structure of the time cursor, i64."""

POST_RING = 8
"""Offset of the ring's address, u32."""

POST_CHANNEL = 12
"""Offset of the last of the leading channels that take outputs, i32; -1: none known."""

POST_FLOOR = 16
"""Offset of the floor, i64: while the status word is open, an event at or after this time is early enough and in
order."""

POST_HEADER = 24
"""Offset of the header of the next request if it is a posted output of one word, u32."""

POST_END = 28
"""Offset of the end."""

INPUT_ENTRIES = 64
"""Entries in the ring of an input channel."""

INPUT_ENTRY_BYTES = 16
"""Bytes of an entry."""

INPUT_CHANNELS = 256
"""Number of channels with input rings; higher-numbered channels have none."""

ENTRY_TIME = 0
"""Offset in an entry: timestamp, i64."""

ENTRY_DATA = 8
"""Offset in an entry: data, u32."""

ENTRY_FLAGS = 12
"""Offset in an entry: flags, u16."""

ENTRY_NUMBER = 14
"""Offset in an entry: its number, u16."""

ENTRY_EVENT = 1
"""Flag of an entry: an event."""

ENTRY_LOST = 2
"""Flag of an entry: events were lost here."""

ENTRY_MORE = 4
"""Flag of an entry: the FIFO contained further events when it was pushed."""


class Command(IntEnum):
    """Command of a request."""

    OUTPUT = 0
    """An output; the kernel core waits for its status."""
    INPUT = 1
    """An input."""
    POSTED = 2
    """A posted output: the kernel core does not wait for its status, and the gateware stores any error."""
