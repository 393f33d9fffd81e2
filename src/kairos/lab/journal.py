"""The journal of a run: an append-only file with everything it has measured, written by its own process.

The file is a line that names the format, and records. A record is the length of its body and the
CRC-32 of it (two little-endian words of 32 bits), and the body, a MessagePack list: number, time in
microseconds of Unix time, operation, key, value, further fields. Records are numbered from 0
without gaps. A file that ends within a record, or in zeros, is complete up to there: so it looks
after a power cut. Damage costs the records that it has hit: the next sound one is looked for.

Operations: ``begin`` and ``stage`` and ``end`` (the run itself, in the further fields), ``set``,
``append``, ``assign``, ``delete`` (datasets of the run), ``read`` (datasets that it has read),
``propose`` and ``confirm`` (parameters that it calibrates), ``fit`` and ``fitted`` (fits to its datasets),
``note`` (an entry of the logbook, its value).
"""

import logging
import mmap
import os
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgpack

from .. import pyon
from ..errors import UsageError
from ..experiment.datasets import ARCHIVE, BROADCAST, PERSIST
from . import clock
from .values import Encoded, Undecodable, decoded, encoded, is_plain, size_of

__all__ = ["ARCHIVE", "BROADCAST", "PERSIST", "Journal", "Reader", "Record"]

logger = logging.getLogger(__name__)

HEAD = b"kairos journal 1\n"
FLUSH = 0.05
"""Seconds for which changes are collected before they are written; the promise is 0.1."""
SYNC = 0.5
"""Seconds after which what was written is on the disk; the promise is 1."""
RETRY = 0.5
"""Seconds until the next attempt to write to a full disk."""
BLOCK = 1 << 20
"""Bytes read at a time."""
HEADER = 64
"""Bytes of a record's body within which are its number, time and operation."""
LARGEST = 1 << 31
"""Bytes of a record's body beyond which its length must be damaged."""
LARGEST_VALUE = LARGEST - (1 << 20)
"""Bytes of a value; the rest is for its metadata."""
OPERATIONS = frozenset(
    "begin stage end set append assign delete read propose confirm fit fitted note".split()  # noqa: SIM905 as above
)

_FRAME = struct.Struct("<II")
_BODY = b"\x96"
"""The first byte of a body: MessagePack's list of six."""


class Record(NamedTuple):
    """One change, or one step of the run."""

    number: int
    time: float
    """Seconds of Unix time."""
    operation: str
    key: str
    value: Any
    more: Any
    """``set``: (flags, metadata); ``read``: metadata; ``assign``: the subscript; ``propose``:
    (metadata, rule); ``fit``, ``fitted``, ``begin``, ``stage``, ``end``: a dictionary."""


class Journal:
    """Writes the journal `path`, which must not exist. May be called by any thread.

    A thread writes what was noted, at the latest after `FLUSH`, and synchronises the file, at the
    latest after `SYNC`. `written` is called by it with the length of the file after each write. If
    the disk is full, everything is kept in memory and written once there is space.
    """

    def __init__(self, path, written: Callable[[int], None] = lambda length: None):
        self.path = Path(path)
        self._written = written
        self._file = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        self._length = 0
        """Bytes of the file that are complete records."""
        self._number = 0
        self._pending: list[list] = []
        """Unwritten records: operation, key, value (encoded, or a list that still grows), more, time."""
        self._growing: dict[str, list] = {}
        """The pending records to which numbers may still be appended, by key."""
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._unsynced = False
        self._closed = False
        self.failure: str | None = None
        """Why the last write has failed, if it has."""
        os.write(self._file, HEAD)
        self._length = len(HEAD)
        _sync_folder(self.path.parent)
        self._thread = threading.Thread(target=self._keep, name="journal", daemon=True)
        self._thread.start()

    def note(self, operation: str, key: str = "", value=None, more=None):
        """Note a change. The value is encoded now: it may be changed in place later. UsageError for one that no record
        can hold."""
        if operation == "append" and is_plain(value):
            self._append(key, value)
            return
        _check_size(key, size_of(value))
        made = encoded([value] if operation == "append" else value)
        _check_size(key, len(made.data))
        self._add(operation, key, made, more)

    def _append(self, key, value):
        with self._changed:
            record = self._growing.get(key)
            if record is not None and type(record[2][0]) is type(value):
                record[2].append(value)
                return
        self._add("append", key, [value], None)

    def _add(self, operation, key, value, more):
        record = [operation, key, value, more, clock.now()]
        with self._changed:
            # Later numbers must not be appended before this change.
            self._growing.pop(key, None)
            if type(value) is list:
                self._growing[key] = record
            first = not self._pending
            self._pending.append(record)
            if first:
                self._changed.notify()

    def flush(self):
        """Write what was noted; returns once the operating system has it, so that it survives this process."""
        with self._writing:
            self._write()

    def sync(self):
        """Write what was noted; returns once it is on the disk. OSError if the disk is full."""
        with self._writing:
            self._write()
            if self.failure is not None:
                raise OSError(f"{self.path} cannot be written: {self.failure}")
            self._synchronise()

    def close(self):
        """Synchronise and close. OSError if the disk is full; the journal may be closed again."""
        self.sync()
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()
        os.close(self._file)

    def _keep(self):
        """Write and synchronise in time, until closed."""
        synced = time.monotonic()
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._pending, SYNC if self._unsynced else None)
                if self._closed:
                    return
            if self._pending:
                time.sleep(RETRY if self.failure else FLUSH)
            with self._writing:
                self._write()
                if self._unsynced and time.monotonic() - synced >= SYNC:
                    self._try_to_synchronise()
                    synced = time.monotonic()

    def _try_to_synchronise(self):
        try:
            self._synchronise()
        except OSError as error:  # some disks, over a network, say only now that they are full
            if self.failure is None:
                logger.error("the journal %s cannot be written: %s; it is tried again", self.path, error.strerror)
            self.failure = error.strerror

    def _write(self):
        with self._changed:
            pending, self._pending, self._growing = self._pending, [], {}
        if not pending:
            return
        frames = b"".join(self._framed(number, *record) for number, record in enumerate(pending, self._number))
        try:
            _write_whole(self._file, frames)
        except OSError as error:
            # A part of a record may have been written.
            os.ftruncate(self._file, self._length)
            os.lseek(self._file, self._length, os.SEEK_SET)
            if self.failure is None:
                logger.error("the journal %s cannot be written: %s; it is tried again", self.path, error.strerror)
            self.failure = error.strerror
            with self._changed:
                self._pending = pending + self._pending
            return
        self.failure = None
        self._number += len(pending)
        self._length += len(frames)
        self._unsynced = True
        self._written(self._length)

    def _framed(self, number, operation, key, value, more, moment) -> bytes:
        if type(value) is list:
            value = encoded(value)
        body = msgpack.packb(
            [number, int(moment * 1e6), operation, key, tuple(value), None if more is None else pyon.encode(more)],
            use_bin_type=True,
            unicode_errors="surrogateescape",
        )
        return _FRAME.pack(len(body), zlib.crc32(body)) + body

    def _synchronise(self):
        os.fdatasync(self._file)
        self._unsynced = False


def _check_size(key: str, size: int):
    """Raise UsageError for a value of so many bytes that a reader would take its record for damaged."""
    if size > LARGEST_VALUE:
        raise UsageError(
            f"the dataset {key} is too large to be stored: {size:,} bytes, and a value has at most {LARGEST_VALUE:,}; "
            "divide it into several datasets"
        )


def _write_whole(file, data: bytes):
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _sync_folder(path: Path):
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


class Reader:
    """Reads the journal `path`, also while it is written: `records` gives those that are new.

    `complete`: nobody writes it any more, so a damaged record is passed over, and counted in
    `damaged`. `only`: the operations whose records are given; others are not decoded.
    """

    def __init__(self, path, complete: bool = False, only: frozenset[str] | None = None):
        self.path = Path(path)
        self._only = only
        self.offset = 0
        """Bytes read so far."""
        self.damaged = 0
        self._complete = complete

    def records(self) -> Iterator[Record]:
        """Yield the records after `offset`, up to the end of the file or an incomplete one."""
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return
        with file:
            if self.offset == 0:
                head = file.read(len(HEAD))
                if head == HEAD:
                    self.offset = len(HEAD)
                elif not self._resume(file):
                    self.damaged += bool(head.strip(b"\0")) and not HEAD.startswith(head)
                    return
            file.seek(self.offset)
            yield from self._following(file)

    def _following(self, file) -> Iterator[Record]:
        data, at = b"", 0
        while True:
            while (body := _body(data, at)) is None:
                if lacks := _lacks(data, at):
                    left = os.fstat(file.fileno()).st_size - self.offset - (len(data) - at)
                    block = file.read(max(BLOCK, lacks)) if lacks <= left else b""
                    if block:
                        data, at = data[at:] + block, 0
                        continue
                if not self._resume(file):
                    return
                data, at = b"", 0
            checksum = _FRAME.unpack_from(data, at)[1]
            intact = zlib.crc32(body) == checksum
            if intact and self._only is not None and _operation(body) not in self._only:
                at += _FRAME.size + len(body)
                self.offset += _FRAME.size + len(body)
                continue
            record = _record(body) if intact else None
            if record is not None:
                at += _FRAME.size + len(body)
                self.offset += _FRAME.size + len(body)
                yield record
            elif self._resume(file, _FRAME.size + len(body)):
                data, at = b"", 0
            else:
                return

    def _resume(self, file, length: int = 0) -> bool:
        """Go to the first sound record behind the damaged one at `offset`, which has `length` bytes, or may have;
        returns whether there is one. Always False while the file is written."""
        if not self._complete or os.fstat(file.fileno()).st_size <= self.offset:
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            if length and self.offset + length == len(view):
                self.damaged += 1  # the last one
                return False
            found = self.offset + length
            if not (length and _is_sound(view, found)):
                found = self.offset
                while True:
                    found = view.find(_BODY, found + _FRAME.size + 1) - _FRAME.size
                    if found < 0:
                        self.damaged += bool(length)
                        return False
                    if _is_sound(view, found):
                        break
        self.damaged += 1
        self.offset = found
        file.seek(found)
        return True


def _is_sound(view, at: int) -> bool:
    """Whether there is a record at this place of a file."""
    if len(view) - at <= _FRAME.size:
        return False
    length, checksum = _FRAME.unpack_from(view, at)
    start = at + _FRAME.size
    if not 0 < length <= len(view) - start or _operation(view[start : start + HEADER]) not in OPERATIONS:
        return False
    return zlib.crc32(view[start : start + length]) == checksum


def _length(data: bytes, at: int) -> int | None:
    return _FRAME.unpack_from(data, at)[0] if len(data) - at >= _FRAME.size else None


def _lacks(data: bytes, at: int) -> int:
    """Return how many bytes of the record at `at` are missing; 0 if there is no record, or none is
    missing."""
    length = _length(data, at)
    if length is None:
        return _FRAME.size - (len(data) - at)
    if not 0 < length < LARGEST:
        return 0
    return max(0, at + _FRAME.size + length - len(data))


def _body(data: bytes, at: int) -> bytes | None:
    """Return the body of the record at `at`, or None."""
    length = _length(data, at)
    if length is None or not 0 < length < LARGEST or _lacks(data, at):
        return None
    return data[at + _FRAME.size : at + _FRAME.size + length]


def _operation(body: bytes) -> str | None:
    """Return the operation of a record, which is near its beginning; None if it is damaged."""
    unpacker = msgpack.Unpacker(raw=False, unicode_errors="surrogateescape")
    unpacker.feed(body[:HEADER])
    try:
        unpacker.read_array_header()
        unpacker.skip()
        unpacker.skip()
        found = unpacker.unpack()
    except (ValueError, msgpack.UnpackException):
        return None
    return found if isinstance(found, str) else None


def _record(body: bytes) -> Record | None:
    try:
        number, moment, operation, key, value, more = msgpack.unpackb(
            body, raw=False, unicode_errors="surrogateescape", strict_map_key=False
        )
        return Record(
            number, moment / 1e6, operation, key, decoded(Encoded(*value)), None if more is None else pyon.decode(more)
        )
    except (ValueError, TypeError, OverflowError, Undecodable, msgpack.UnpackException):
        return None
