"""The link's own control words (stream 0) and their bit layout. Clients of the link never see them.

53                        22 21    20     19      18      17 16          3     2   1    0
| CRC of the 22 bits below  | zero  | again | generation | number         | lane | kind |   start, end, acknowledge
|                           | zero  | up    | knows | seen (8) | mine (8)        | kind |   hello

The CRC of an end word covers the words of its frame and the end word; that of any other control
word covers that word alone. Each word is covered together with its stream number, with the CRC
field set to zero.
"""

from migen import *

from .crc import CRC_BITS
from .word import PAYLOAD_BITS

__all__ = ["CONTROL", "NUMBER_BITS", "ControlWord", "Kind"]

CONTROL = 0
"""Stream number of the control words."""
NUMBER_BITS = 14
_GENERATION_BITS = 2
_KIND_BITS = 2
_SESSION_BITS = 8


class Kind:
    """hello: identifies the sender. start: the lane's next word has this number and begins a frame.
    end: has this number itself and ends a frame. acknowledge: all words of the lane before this
    number have been received."""

    HELLO, START, END, ACKNOWLEDGE = range(4)


class ControlWord:
    """Named bit fields of a payload, for reading and writing."""

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
