"""The two formats of DMA traces, in Python: decoded by the gateware, and written by the firmware.

Recorded: wire protocols, section 5.1. Compact: docs/interfaces.md section 10.
"""

import struct

from ..contracts.rtio import DMA_MAX_WORDS as MAX_WORDS
from ..contracts.rtio import DMA_SHORT_DATA_BITS, DmaFormat, TraceWord

__all__ = ["RECORDED", "COMPACT", "MAX_WORDS", "recorded", "compact"]

RECORDED, COMPACT = map(int, DmaFormat)


def recorded(events, end=True) -> bytes:
    """events: (channel 24 bits, address 8, timestamp in machine units, data as bytes: 1 to 64).
    With end marker."""
    trace = b""
    for channel, address, timestamp, data in events:
        trace += struct.pack("<I", 13 + len(data) | channel << 8)
        trace += struct.pack("<QB", timestamp % 2**64, address) + data
    return trace + bytes([0]) * end


def compact(events, end=True) -> bytes:
    """The same events, packed; data that are not whole 32-bit words are zero-extended. The first
    delta is from 0."""
    trace = b""
    now = 0
    for channel, address, timestamp, data in events:
        delta = (timestamp - now + 2**63) % 2**64 - 2**63
        now = timestamp
        if not -(2**31) <= delta < 2**31:
            trace += struct.pack("<Qq", TraceWord.TIME, delta)
            delta = 0
        value = int.from_bytes(data, "little")
        if value < 1 << DMA_SHORT_DATA_BITS and channel < 1 << 16:
            trace += struct.pack("<BHBi", TraceWord.SHORT | value << 2, channel, address, delta)
            continue
        words = [value >> 32 * n & 0xFFFF_FFFF for n in range(max(1, (len(data) + 3) // 4))]
        trace += struct.pack("<IIiI", TraceWord.LONG | len(words) << 2 | channel << 8, address, delta, words[0])
        rest = words[1:] + [0] * ((len(words) - 1) % 2)
        trace += struct.pack(f"<{len(rest)}I", *rest)
    return trace + bytes(8) * end
