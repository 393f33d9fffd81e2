"""Images of SD cards: an MBR with one FAT16 partition, built only from the specification of the
file system."""

import struct

START = 2048
"""First sector of the partition."""
SECTORS = 10_000
CLUSTER = 2
FAT_SECTORS = 20
ROOT_ENTRIES = 512


def make(path, files=()):
    """Write a card with `files`, pairs of an 11-letter name and its bytes, in the root directory."""
    boot = bytearray(512)
    boot[:3] = b"\xeb\x3c\x90"
    boot[3:11] = b"MSWIN4.1"
    struct.pack_into(
        "<HBHBHHBHHHII", boot, 11, 512, CLUSTER, 1, 2, ROOT_ENTRIES, SECTORS, 0xF8, FAT_SECTORS, 32, 64, START, 0
    )
    boot[36:39] = b"\x80\0\x29"
    boot[39:62] = b"\x01\0\0\0NO NAME    FAT16   "
    boot[510:] = b"\x55\xaa"
    fat = bytearray(512 * FAT_SECTORS)
    struct.pack_into("<HH", fat, 0, 0xFFF8, 0xFFFF)
    root = bytearray(32 * ROOT_ENTRIES)
    data = b""
    cluster = 2
    for number, (name, content) in enumerate(files):
        count = -(-len(content) // (512 * CLUSTER))
        root[32 * number : 32 * number + 12] = name + b"\x20"
        struct.pack_into("<HI", root, 32 * number + 26, cluster if count else 0, len(content))
        for n in range(count):
            struct.pack_into("<H", fat, 2 * (cluster + n), 0xFFFF if n == count - 1 else cluster + n + 1)
        data += content.ljust(512 * CLUSTER * count, b"\0")
        cluster += count
    mbr = bytearray(512)
    struct.pack_into("<B3sB3sII", mbr, 446, 0, b"\0\0\0", 6, b"\0\0\0", START, SECTORS)
    mbr[510:] = b"\x55\xaa"
    image = bytes(mbr) + bytes(512 * (START - 1)) + bytes(boot) + bytes(fat) * 2 + bytes(root) + data
    with path.open("wb") as card:
        card.write(image)
        card.truncate(512 * (START + SECTORS))  # unwritten parts take no disk space
    return path
