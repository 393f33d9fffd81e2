"""The finished points of a sweep on the disk, so that one that was killed goes on.

Each record is its length and checksum (8 bytes, lowest first) and a text; the first one says which
sweep it is. A file that ends within a record, because the process was killed, is complete up to there;
damage within costs the points that it has hit.
"""

import fcntl
import logging
import os
import struct
import threading
import zlib
from pathlib import Path

from ... import files
from ...errors import UsageError

__all__ = ["Journal"]

logger = logging.getLogger(__name__)

_HEAD = struct.Struct("<II")
POINT = b"{"
"""How the record of a point begins, and no other."""
SYNCHRONISED = 1 << 20
"""Bytes after which they are on the disk, whatever happens to the computer."""


class Journal:
    """The journal at `path` of the sweep that `digest` names; continued if there is one. UsageError
    if it belongs to another sweep, is none, is used by another process, or cannot be written."""

    def __init__(self, path: Path, digest: str):
        self.path = path
        self._unsynchronised = 0
        self._adding = threading.Lock()
        self._file = _locked(path)
        try:
            self._begin(digest)
        except BaseException:
            self._file.close()
            raise

    def _begin(self, digest: str):
        data = self.path.read_bytes()
        self.records, end, lost = _read(data)
        if self.records and self.records[0] != digest.encode():
            is_other = _is_digest(self.records[0])
            what = (
                "is that of another sweep, which was not finished" if is_other else "is damaged, or no part of a sweep"
            )
            finish = "finish that one, " if is_other else ""
            raise UsageError(f"{self.path} {what}: {finish}give another -o, or delete the file")
        if not self.records and not _is_torn(data, digest):
            raise UsageError(f"{self.path} is damaged, or no part of a sweep: give another -o, or delete the file")
        if lost:
            logger.warning("%s is damaged: %d bytes of it are computed again", self.path, lost)
            files.write(self.path, b"".join(map(_framed, self.records)))
            self._file.close()
            self._file = _locked(self.path)
        else:
            self._file.truncate(end)
        if not self.records:
            self.add(digest)
        del self.records[:1]

    def add(self, text: str):
        """Add a record, from any thread. UsageError."""
        with self._adding:
            self._add(text.encode())

    def _add(self, data: bytes):
        rest = memoryview(_framed(data))
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise UsageError(
                f"{self.path} cannot be written: {error.strerror}. What is computed is kept: the same command goes on"
            ) from None
        self._unsynchronised += len(data)
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


def _locked(path: Path):
    """Open and lock a journal. UsageError."""
    try:
        file = path.open("a+b", buffering=0)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise UsageError(f"{path} is used by a sweep in progress: wait for its end, or give another -o") from None
    except OSError:
        pass  # a file system without locks
    return file


def _framed(data: bytes) -> bytes:
    return _HEAD.pack(len(data), zlib.crc32(data)) + data


def _is_torn(data: bytes, digest: str) -> bool:
    """Whether a file consists of a part of its first record."""
    head = _HEAD.pack(len(digest), zlib.crc32(digest.encode()))[:4]
    return not any(data) or len(data) < _HEAD.size + len(digest) and data[:4] == head[: len(data)]


def _is_digest(record: bytes) -> bool:
    return not record.startswith(POINT)


def _record(data: bytes, at: int) -> bytes | None:
    """Return the record at a place; None if there is no sound one."""
    if at + _HEAD.size > len(data):
        return None
    length, checksum = _HEAD.unpack_from(data, at)
    record = data[at + _HEAD.size : at + _HEAD.size + length]
    return record if len(record) == length and zlib.crc32(record) == checksum else None


def _read(data: bytes) -> tuple[list[bytes], int, int]:
    """Return the sound records, where the last one ends, and how many bytes between them are damaged."""
    records, at, lost = [], 0, 0
    while True:
        found = at
        while (record := _record(data, found)) is None:
            found = data.find(POINT, found + _HEAD.size + 1) - _HEAD.size
            if found < 0:
                return records, at, lost
        records.append(record)
        lost += found - at
        at = found + _HEAD.size + len(record)
