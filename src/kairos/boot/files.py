"""Files booted by a device, checked before they are sent: firmware (ELF for 32-bit ARM), gateware
(bitstream)."""

import struct
from dataclasses import dataclass

from ..errors import UsageError
from ..files import read

__all__ = ["Elf", "firmware", "gateware"]

_SYNC = 0xAA99_5566
_SEARCHED = 4096
"""Leading bytes of a bitstream file that must contain the sync word; a `.bit` header has some 150.
"""
_DUMMY = (0xFFFF_FFFF, 0x0000_00BB, 0x1122_0044)
"""Words before the sync word: padding and bus width detection (UG470, table 5-19)."""


@dataclass
class Elf:
    """The loadable content of an ELF file: `segments` are (physical address, bytes, size in
    memory)."""

    entry: int
    segments: list[tuple[int, bytes, int]]

    @classmethod
    def parse(cls, path) -> "Elf":
        """Read a program for 32-bit ARM; UsageError if the file is something else."""
        data = read(path)
        if data[:4] != b"\x7fELF":
            raise UsageError(f"{path} is not a firmware: it is not an ELF file")
        try:
            kind, machine = struct.unpack_from("<HH", data, 16)
            if data[4:6] != b"\x01\x01" or kind != 2 or machine != 40:
                raise UsageError(f"{path} is not a firmware: this ELF file is not for 32-bit ARM")
            entry, table = struct.unpack_from("<II", data, 24)
            step, count = struct.unpack_from("<HH", data, 42)
            headers = [struct.unpack_from("<8I", data, table + step * n) for n in range(count)]
        except struct.error:
            raise UsageError(f"{path} is truncated") from None
        segments = []
        for type_, offset, _, address, length, size, _, _ in headers:
            if type_ == 1 and size:
                if offset + length > len(data):
                    raise UsageError(f"{path} is truncated")
                segments.append((address, data[offset : offset + length], size))
        if not segments:
            raise UsageError(f"{path} has nothing to load")
        return cls(entry, segments)

    def stripped(self) -> bytes:
        """Return an ELF file with only the loadable content: without symbols it is a tenth as long."""
        header = bytearray(52 + 32 * len(self.segments))
        struct.pack_into("<4s5B7x", header, 0, b"\x7fELF", 1, 1, 1, 0, 0)
        struct.pack_into(
            "<HHIIIIIHHHHHH", header, 16, 2, 40, 1, self.entry, 52, 0, 0x0500_0400, 52, 32, len(self.segments), 40, 0, 0
        )
        body = b""
        for n, (address, data, size) in enumerate(self.segments):
            place = len(header) + len(body)
            struct.pack_into("<8I", header, 52 + 32 * n, 1, place, address, address, len(data), size, 7, 4)
            body += data.ljust(-(-len(data) // 4) * 4, b"\0")
        return bytes(header) + body

    def flat(self) -> tuple[int, bytes]:
        """Return the load address, and all bytes from there on, without trailing zeros of the
        memory image."""
        loaded = [(address, data) for address, data, _ in self.segments if data]
        start = min(address for address, _ in loaded)
        image = bytearray(max(address + len(data) for address, data in loaded) - start)
        for address, data in loaded:
            image[address - start : address - start + len(data)] = data
        return start, bytes(image)


def firmware(path) -> bytes:
    """Return the firmware in the file at `path`, reduced to its loadable content."""
    return Elf.parse(path).stripped()


def gateware(path) -> bytes:
    """Return the bitstream in the file at `path`: its words as the processor reads them, without a
    header.

    Vivado's `.bit` and `.bin` have the most significant byte of each word first; files made for
    boot images the least significant.
    """
    data = read(path)
    found = [(at, order) for order in "><" if (at := data.find(struct.pack(f"{order}I", _SYNC), 0, _SEARCHED)) >= 0]
    if not found:
        raise UsageError(f"{path} is not a bitstream: it has no sync word (AA 99 55 66) in its first {_SEARCHED} bytes")
    start, order = min(found)
    while start >= 4 and struct.unpack_from(f"{order}I", data, start - 4)[0] in _DUMMY:
        start -= 4
    count = (len(data) - start) // 4
    return struct.pack(f"<{count}I", *struct.unpack_from(f"{order}{count}I", data, start))
