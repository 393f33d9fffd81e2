"""Storage of an emulated device: the image of an SD card, in which it keeps its configuration.

A new card has one FAT16 partition without files. The image is sparse: what is not written takes no
space on the disk.
"""

import fcntl
import struct
from pathlib import Path
from typing import BinaryIO

from ..errors import UsageError

__all__ = ["make_card", "open_card"]

SECTOR = 512
START = 2048
"""First sector of the partition."""
SECTORS = 131_072
"""Of the partition: 64 MiB, four times the longest value of a key."""
CLUSTER = 4
"""Sectors of a cluster: 2 KiB."""
TABLE = 128
"""Sectors of one of the two tables: an entry of two bytes for each cluster."""
ENTRIES = 512
"""Of the root directory, 32 bytes each."""
FAT16 = 0x06
MEDIUM = 0xF8
"""A fixed disk."""
SIGNATURE = b"\x55\xaa"


def _partition_table() -> bytes:
    entry = struct.pack("<B3sB3sII", 0, bytes(3), FAT16, bytes(3), START, SECTORS)
    return bytes(446) + entry + bytes(48) + SIGNATURE


def _boot_sector() -> bytes:
    """The first sector of the file system, with its geometry."""
    head = b"\xeb\x3c\x90" + b"KAIROS  "
    sizes = struct.pack("<HBHBHHBHHHII", SECTOR, CLUSTER, 1, 2, ENTRIES, 0, MEDIUM, TABLE, 32, 64, START, SECTORS)
    names = b"\x80\x00\x29" + bytes(4) + b"NO NAME    " + b"FAT16   "
    return (head + sizes + names).ljust(SECTOR - len(SIGNATURE), b"\x00") + SIGNATURE


def make_card(path: Path):
    """Write the image of an empty card; an OSError if that fails."""
    with path.open("xb") as image:
        image.write(_partition_table())
        image.seek(SECTOR * START)
        image.write(_boot_sector())
        for table in range(2):
            image.seek(SECTOR * (START + 1 + table * TABLE))
            image.write(struct.pack("<HH", 0xFF00 | MEDIUM, 0xFFFF))
        image.truncate(SECTOR * (START + SECTORS))


def open_card(path: Path) -> BinaryIO:
    """Open the image at `path` for a device, with a new card if there is none; it is that device's until
    it is closed. UsageError."""
    try:
        if not path.exists():
            make_card(path)
        image = path.open("r+b")
    except OSError as error:
        raise UsageError(f"the storage {path} cannot be used: {error.strerror}") from None
    try:
        fcntl.flock(image, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        image.close()
        raise UsageError(f"the storage {path} is in use by another device: name another file") from None
    return image
