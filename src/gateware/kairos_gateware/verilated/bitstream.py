"""A bitstream for the emulated chip: packets as expected by configuration logic (UG470, chapter 5),
whose frames hold the descriptor of the gateware. The emulator accepts it like a chip accepts a real
one, and then runs the library with that descriptor."""

import struct

__all__ = ["IDCODE", "bitstream"]

IDCODE = 0x0373_1093
"""Of the XC7Z045, the emulated chip."""

_SYNC = 0xAA99_5566
_FDRI, _CMD, _IDCODE = 2, 4, 12
_RCRC, _START, _DESYNC = 7, 5, 13
_LEAD = [0xFFFF_FFFF] * 8 + [0x0000_00BB, 0x1122_0044] + [0xFFFF_FFFF] * 2
_NOP = 0x2000_0000


def _write(register: int, *words: int) -> list[int]:
    """A packet of type 1 that writes a register."""
    return [0x3000_0000 | register << 13 | len(words), *words]


def bitstream(name: str, descriptor: bytes) -> bytes:
    """A `.bit` file of the gateware `name`: header with design and part, then words, most
    significant byte first."""
    frames = descriptor.ljust(-(-len(descriptor) // 4) * 4, b"\0")
    # The emulator compares bytes as the processor sees them.
    words = list(struct.unpack(f"<{len(frames) // 4}I", frames))
    packets = [
        *_LEAD,
        _SYNC,
        _NOP,
        *_write(_CMD, _RCRC),
        *_write(_IDCODE, IDCODE),
        *_write(_FDRI),
        0x5000_0000 | len(words),
        *words,
        *_write(_CMD, _START),
        *_write(_CMD, _DESYNC),
        *[_NOP] * 16,
    ]
    data = struct.pack(f">{len(packets)}I", *packets)
    header = bytes.fromhex("0009 0ff0 0ff0 0ff0 0ff0 00 0001")
    # No date: the same gateware results in the same file.
    for key, text in zip(b"abcd", (name, "7z045ffg900", "", ""), strict=True):
        value = text.encode() + b"\0"
        header += bytes([key]) + struct.pack(">H", len(value)) + value
    return header + b"e" + struct.pack(">I", len(data)) + data
