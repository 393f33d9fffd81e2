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
    "SLOT_HEAD",
    "SLOT_WORDS",
    "MAX_WORDS",
    "REPLY",
    "REPLY_STATUS",
    "REPLY_DATA",
    "RING_ALIGNMENT",
    "STATUS_BITS",
    "ATTENTION",
    "POSTED_ERROR",
    "POST_ALLOWED",
    "POST_COUNTDOWN",
    "POST_CURSOR",
    "POST_FLOOR",
    "POST_HEAD",
    "POST_SLOT",
    "POST_CHANNELS",
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
"""Requests in the ring."""

SLOT_BYTES = 128
"""Bytes of a request."""

SLOT_TARGET = 0
"""Offset in a slot: channel << 8 | address, u32."""

SLOT_DATA = 4
"""Offset in a slot: data word 0, u32."""

SLOT_TIME = 8
"""Offset in a slot: event time or timeout in machine units, i64."""

SLOT_HEAD = 16
"""Offset in a slot: command u8, number of data words u8, number of the request u16."""

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

STATUS_BITS = 15
"""Status word: RTIO status of the newest request answered."""

ATTENTION = 16
"""Status word: a lane, or the pool of a core that reorders, is nearly full, or a posted output failed."""

POSTED_ERROR = 32
"""Status word: a posted output failed since `initiator_clear`."""

POST_ALLOWED = 2272
"""Offset of what a posted output of one word has in its head without its number; 0 while nothing is to be posted.
u32."""

POST_COUNTDOWN = 2276
"""Offset of the address of a counter: while it is not 0, the floor holds. u32."""

POST_CURSOR = 2280
"""Offset of the time cursor, i64."""

POST_FLOOR = 2288
"""Offset of the floor, i64: an event that is not before it is early enough and in order."""

POST_HEAD = 2296
"""Offset of the head of the next request if it is a posted output of one word, u32."""

POST_SLOT = 2300
"""Offset of the address of the next request's slot, u32."""

POST_CHANNELS = 2304
"""Offset of a table by a channel's low byte: the high byte of the channel that takes outputs, or 255. 256 times u8."""

INPUT_ENTRIES = 64
"""Entries in the ring of an input channel."""

INPUT_ENTRY_BYTES = 16
"""Bytes of an entry."""

INPUT_CHANNELS = 256
"""Channels with greater numbers have no input ring."""

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
"""Flag of an entry: events were lost at this place."""

ENTRY_MORE = 4
"""Flag of an entry: there was more behind it in the FIFO when it was pushed."""


class Command(IntEnum):
    """What a request asks for."""

    OUTPUT = 0
    """An output whose status is waited for."""
    INPUT = 1
    """An input."""
    POSTED = 2
    """An output whose error the gateware keeps, because nobody waits for its status."""
