"""What the analyzer leaves in memory, in Python: units of 32 bytes, each one message or a packed pair.

Messages: wire protocols, section 4.3. Pairs: docs/interfaces.md section 11.
"""

import struct
from dataclasses import dataclass

from ..contracts.analyzer import Exception as Kinds
from ..contracts.analyzer import Message as Types

__all__ = ["OUTPUT", "INPUT", "EXCEPTION", "STOPPED", "UNDERFLOW", "OVERFLOW", "Message", "decode", "expand"]

OUTPUT, INPUT, EXCEPTION, STOPPED = map(int, Types)
UNDERFLOW, OVERFLOW = map(int, Kinds)
_COUNTER_LOW = 15
_PAIR = 1 << 39


@dataclass(frozen=True)
class Message:
    """counter, timestamp: machine units. address: of an exception its kind."""

    type: int
    channel: int = 0
    timestamp: int = 0
    counter: int = 0
    address: int = 0
    data: int = 0

    def to_bytes(self) -> bytes:
        """The 32 bytes of the dump."""
        number = self.data << 192 | self.address << 160 | self.counter << 96 | self.timestamp << 32
        return (number | self.channel << 2 | self.type).to_bytes(32, "big")

    @classmethod
    def from_bytes(cls, unit: bytes) -> "Message":
        data, address, counter, timestamp, channel = struct.unpack(">QIQQI", unit)
        return cls(channel & 3, channel >> 2, timestamp, counter, address, data)


def decode(memory: bytes) -> list[Message]:
    """The messages of whole units, oldest first."""
    messages = []
    for position in range(0, len(memory), 32):
        unit = memory[position : position + 32]
        words = struct.unpack("<4Q", unit)
        messages += _pair(*words) if words[3] & _PAIR else [Message.from_bytes(unit)]
    return messages


def _pair(first, second, counter, rest):
    coarse = counter & 2**61 - 1
    low = rest >> 32 & 0x7F | rest >> 33 & 0x7F80
    coarses = coarse, coarse >> _COUNTER_LOW << _COUNTER_LOW | low
    channels = rest & 0xFFFF, rest >> 48
    for n, word in enumerate([first, second]):
        slack = (word >> 32 ^ 2**31) - 2**31
        timestamp = (8 * coarses[n] + slack) % 2**64
        address = rest >> 16 + 8 * n & 0xFF
        yield Message(counter >> 61 + n & 1, channels[n], timestamp, 8 * coarses[n], address, word & 0xFFFF_FFFF)


def expand(memory: bytes) -> bytes:
    """The units as the dump has them: one message in each 32 bytes."""
    return b"".join(message.to_bytes() for message in decode(memory))
