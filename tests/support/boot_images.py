"""Small boot images, built only from the description of the format (UG585, section 6.3.2)."""

import struct

__all__ = ["small_image"]

_LOADER = 0x1000
_TABLE = 0xC80


def _checked(words):
    return struct.pack(f"<{len(words) + 1}I", *words, ~sum(words) & 0xFFFFFFFF)


def small_image(loader: bytes = bytes(64), bitstream: bytes | None = None) -> bytes:
    """Build an image with this loader, and optionally a bitstream after it; there is no firmware.
    Lengths are multiples of 64 bytes."""
    parts = [(loader, 0x10)] + ([(bitstream, 0x20)] if bitstream is not None else [])
    table, data = b"", b""
    for part, attributes in parts:
        words = len(part) // 4
        table += _checked([words] * 3 + [0, 0, (_LOADER + len(data)) // 4, attributes, 1] + [0] * 7)
        data += part
    table += _checked([0] * 15)
    header = bytes(0x20)
    header += _checked([0xAA995566, 0x584C4E58, 0, 0x01010000, _LOADER, len(loader), 0, 0, len(loader), 1])
    header = header.ljust(0x98, b"\0") + struct.pack("<II", 0x8C0, _TABLE)
    return header.ljust(_TABLE, b"\0") + table.ljust(_LOADER - _TABLE, b"\0") + data
