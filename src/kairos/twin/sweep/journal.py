"""The finished points of a sweep on the disk, so that one that was killed goes on.

Each record is its length and checksum (8 bytes, lowest first) and a text; the first one says which
sweep it is. A file that ends within a record, because the process was killed, is complete up to there.
"""

import os
import struct
import zlib
from pathlib import Path

from ...errors import UsageError

__all__ = ["Journal"]

_HEAD = struct.Struct("<II")
SYNCHRONISED = 1 << 20
"""Bytes after which they are on the disk, whatever happens to the computer."""


class Journal:
    """The journal at `path` of the sweep that `digest` names; continued if there is one. UsageError
    if it belongs to another sweep, or cannot be written."""

    def __init__(self, path: Path, digest: str):
        self.path = path
        try:
            self._file = path.open("a+b")
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from None
        self.records, end = _read(path)
        if self.records and self.records.pop(0) != digest.encode():
            self._file.close()
            raise UsageError(
                f"{path} is that of another sweep, which was not finished: finish that one, give another -o, or delete "
                "the file"
            )
        self._file.truncate(end)
        if end == 0:
            self.add(digest)
        self._unsynchronised = 0

    def add(self, text: str):
        """Add a record."""
        data = text.encode()
        self._file.write(_HEAD.pack(len(data), zlib.crc32(data)) + data)
        self._file.flush()
        self._unsynchronised = getattr(self, "_unsynchronised", 0) + len(data)
        if self._unsynchronised > SYNCHRONISED:
            os.fsync(self._file.fileno())
            self._unsynchronised = 0

    def close(self):
        """Close the file."""
        self._file.close()

    def remove(self):
        """Close and delete the file."""
        self.close()
        self.path.unlink(missing_ok=True)


def _read(path: Path) -> tuple[list[bytes], int]:
    """Return the complete records, and where the last one ends."""
    data, records, at = path.read_bytes(), [], 0
    while at + _HEAD.size <= len(data):
        length, checksum = _HEAD.unpack_from(data, at)
        record = data[at + _HEAD.size : at + _HEAD.size + length]
        if len(record) < length or zlib.crc32(record) != checksum:
            break
        records.append(record)
        at += _HEAD.size + length
    return records, at
