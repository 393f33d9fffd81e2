"""Boot images (`BOOT.BIN`) as the boot ROM of the Zynq-7000 reads them: UG585, section 6.3.2; UG1283, "Zynq-7000 SoC".

The ROM itself looks at the header and loads the loader; the loader looks at the partition headers.
"""

import struct
from dataclasses import dataclass

from ..errors import UsageError
from .files import Elf, gateware

__all__ = ["OCM", "boards", "boot_image"]

OCM = 192 * 1024
"""Bytes of on-chip memory for the loader."""

_HEADER = 0x8C0
"""Bytes of the header: fields, then 256 pairs for registers, all unused."""
_TABLES = 0xC80
_ALIGNMENT = 64
_MEMORY, _LOGIC = 0x10, 0x20
_BOARDS = b"KAIROS BOARDS 1\0"
"""In front of the loader's boards: which one, how many, and for each 16 bytes of name and 112 of what is not confirmed
(`src/chip/src/boards/mod.rs`)."""
_BOARD = struct.Struct("16s112s")


@dataclass
class _Partition:
    name: str
    attributes: int
    load: int
    entry: int
    data: bytes


def _words(data: bytes) -> bytes:
    return data.ljust(-(-len(data) // 4) * 4, b"\0")


def _checksum(words: bytes) -> int:
    """Inverted sum of 32-bit words."""
    return ~sum(struct.unpack(f"<{len(words) // 4}I", words)) & 0xFFFF_FFFF


def _aligned(length: int) -> int:
    return -(-length // _ALIGNMENT) * _ALIGNMENT


def _image_header(partition: _Partition, following: int, own_partition: int) -> bytes:
    """Header of an image of one partition; offsets in words."""
    name = _words(partition.name.encode() + b"\0")
    packed = b"".join(name[n : n + 4][::-1] for n in range(0, len(name), 4))
    return struct.pack("<4I", following, own_partition, 0, 1) + packed.ljust(48, b"\0")


def _partition_header(partition: _Partition, offset: int, image_header: int) -> bytes:
    words = len(partition.data) // 4
    fields = struct.pack(
        "<15I",
        words,
        words,
        words,
        partition.load,
        partition.entry,
        offset // 4,
        partition.attributes,
        1,
        0,
        image_header // 4,
        *[0] * 5,
    )
    return fields + struct.pack("<I", _checksum(fields))


def _flat(loader) -> tuple[Elf, bytes]:
    """The loader, and its bytes from address 0 on."""
    first = Elf.parse(loader)
    load, code = first.flat()
    if load != 0 or len(code) > OCM or code.count(_BOARDS) != 1:
        raise UsageError(f"{loader} is no loader: it takes {len(code)} bytes at {load:#x}, there are {OCM} at 0")
    return first, code


def _text(field: bytes) -> str:
    return field.rstrip(b"\0").decode()


def boards(loader) -> dict[str, str]:
    """Names of the boards that the loader at this path knows, the default first; for each, what of its table no public
    source confirms."""
    _, code = _flat(loader)
    at = code.index(_BOARDS) + len(_BOARDS)
    (count,) = struct.unpack_from("<I", code, at + 4)
    known = (_BOARD.unpack_from(code, at + 8 + n * _BOARD.size) for n in range(count))
    return {_text(name): _text(assumed) for name, assumed in known}


def boot_image(loader, firmware, bitstream=None, *, board: str | None = None) -> bytes:
    """The image with the files at these paths: loader and firmware (ELF), a bitstream. `board`: one of `boards`, by
    default the first. UsageError if something is unfit."""
    known = list(boards(loader))
    if board is not None and board not in known:
        raise UsageError(f"the loader knows no board '{board}', but {', '.join(known)}")
    first, code = _flat(loader)
    program = Elf.parse(firmware)
    code = bytearray(code)
    struct.pack_into("<I", code, code.index(_BOARDS) + len(_BOARDS), known.index(board) if board else 0)
    partitions = [_Partition("boot.elf", _MEMORY, 0, first.entry, _words(bytes(code)))]
    if bitstream is not None:
        partitions.append(_Partition("kairos.bit", _LOGIC, 0, 0, gateware(bitstream)))
    for n, (address, data, _) in enumerate(program.segments):
        if data:
            # The loader starts at the first entry point it finds; the others are zero.
            entry = program.entry if 0 <= program.entry - address < len(data) else 0
            partitions.append(_Partition(f"runtime.{n}", _MEMORY, address, entry, _words(data)))

    image_headers = _HEADER + _ALIGNMENT
    table = _aligned(image_headers + 64 * len(partitions))
    offsets = []
    end = max(_TABLES + 0x200, table + 64 * (len(partitions) + 1))
    for partition in partitions:
        offsets.append(_aligned(end))
        end = offsets[-1] + len(partition.data)

    image = bytearray(offsets[-1] + len(partitions[-1].data))
    struct.pack_into("<8I", image, 0, *[0xEAFF_FFFE] * 8)  # vectors: branches to themselves
    length = len(partitions[0].data)
    fields = struct.pack("<I4s8I", 0xAA99_5566, b"XNLX", 0, 0x0101_0000, offsets[0], length, 0, first.entry, length, 1)
    struct.pack_into("<40sI", image, 0x20, fields, _checksum(fields))
    struct.pack_into("<II", image, 0x98, _HEADER, table)
    for at in range(0xA0, 0x8A0, 8):
        struct.pack_into("<II", image, at, 0xFFFF_FFFF, 0)
    struct.pack_into("<5I", image, _HEADER, 0x0102_0000, len(partitions), table // 4, image_headers // 4, 0)
    for n, (partition, offset) in enumerate(zip(partitions, offsets, strict=True)):
        own = image_headers + 64 * n
        following = 0 if n + 1 == len(partitions) else (own + 64) // 4
        image[own : own + 64] = _image_header(partition, following, (table + 64 * n) // 4)
        image[table + 64 * n : table + 64 * n + 64] = _partition_header(partition, offset, own)
        image[offset : offset + len(partition.data)] = partition.data
    last = table + 64 * len(partitions)
    struct.pack_into("<I", image, last + 60, 0xFFFF_FFFF)
    return bytes(image)
