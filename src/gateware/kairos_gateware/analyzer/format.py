"""The analyzer's memory format, in Python: units of 32 bytes, each one message or a packed pair.

Messages: wire protocols, section 4.3. Pairs: docs/interfaces.md section 11.
"""

import struct
from dataclasses import dataclass

from ..contracts.analyzer import MESSAGE, Pair
from ..contracts.analyzer import Exception as Kinds
from ..contracts.analyzer import Message as Types

__all__ = ["OUTPUT", "INPUT", "EXCEPTION", "STOPPED", "UNDERFLOW", "OVERFLOW", "Message", "decode", "expand"]

OUTPUT, INPUT, EXCEPTION, STOPPED = map(int, Types)
UNDERFLOW, OVERFLOW = map(int, Kinds)


@dataclass(frozen=True)
class Message:
    """counter, timestamp: machine units. address: for an exception, its kind."""

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
    for position in range(0, len(memory), MESSAGE):
        unit = memory[position : position + MESSAGE]
        number = int.from_bytes(unit, "little")
        messages += _pair(number) if number >> Pair.MARK & 1 else [Message.from_bytes(unit)]
    return messages


def _pair(unit):
    ends = [*list(Pair)[1:], 8 * MESSAGE]
    part = {field: unit >> field & (1 << end - field) - 1 for field, end in zip(Pair, ends, strict=True)}
    high = Pair.MARK - Pair.NEWER_COUNTER_LOW
    low_bits = high + Pair.NEWER_CHANNEL - Pair.NEWER_COUNTER_HIGH
    older = part[Pair.OLDER_COUNTER]
    low = part[Pair.NEWER_COUNTER_HIGH] << high | part[Pair.NEWER_COUNTER_LOW]
    for name, coarse in [("OLDER", older), ("NEWER", older >> low_bits << low_bits | low)]:
        kind, channel, slack, address, data = (
            part[Pair[f"{name}_{field}"]] for field in ["TYPE", "CHANNEL", "SLACK", "ADDRESS", "DATA"]
        )
        timestamp = (8 * coarse + (slack ^ 2**31) - 2**31) % 2**64
        yield Message(kind, channel, timestamp, 8 * coarse, address, data)


def expand(memory: bytes) -> bytes:
    """The units in dump format: one message in each 32 bytes."""
    return b"".join(message.to_bytes() for message in decode(memory))
