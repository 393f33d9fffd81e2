"""The link's own words, stream 0: what they say and in which bits. None of them is a client's.

53                        22 21    20     19      18      17 16          3     2   1    0
| CRC of the 22 bits below  | zero  | again | generation | number         | lane | kind |   start, end, acknowledge
|                           | zero  | up    | knows | seen (8) | mine (8)        | kind |   hello

The CRC of an end is that of its frame's words and of the end; of the others, of themselves alone.
It covers each word with its stream, and with zeros where the CRC stands.
"""

from migen import *

from .crc import CRC_BITS
from .word import PAYLOAD_BITS

__all__ = ["CONTROL", "NUMBER_BITS", "ControlWord", "Kind"]

CONTROL = 0
"""The stream of the link's own words."""
NUMBER_BITS = 14
_GENERATION_BITS = 2
_KIND_BITS = 2
_SESSION_BITS = 8


class Kind:
    """hello: who is there. start: the next word of the lane has this number, and begins a frame.
    end: it has this number itself, and ends a frame. acknowledge: all words of the lane before this
    number have arrived."""

    HELLO, START, END, ACKNOWLEDGE = range(4)


class ControlWord:
    """Names for the bits of a payload, to read and to write them."""

    def __init__(self, payload):
        self.kind = payload[:_KIND_BITS]
        names = [("lane", 1), ("number", NUMBER_BITS), ("generation", _GENERATION_BITS), ("again", 1)]
        greeting = [("mine", _SESSION_BITS), ("seen", _SESSION_BITS), ("knows", 1), ("up", 1)]
        for fields in (names, greeting):
            at = _KIND_BITS
            for name, width in fields:
                setattr(self, name, payload[at : at + width])
                at += width
        self.crc = payload[PAYLOAD_BITS - CRC_BITS : PAYLOAD_BITS]
