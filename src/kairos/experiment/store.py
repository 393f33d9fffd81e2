"""Persistent datasets: an LMDB file in the layout of ARTIQ's ``dataset_db.mdb``.

A key is the name of a dataset in UTF-8, its value the PYON text of ``(value, metadata)``. A dataset
is written when it is set, so a killed process loses none. A dataset changed in place, element by
element, is written at most once a second, and at the end. Several processes may share a file: each
writes only the datasets it sets itself.
"""

import os
import struct
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from .. import pyon
from ..errors import Unwritable, UsageError
from .datasets import Broadcast, DatasetDB

__all__ = ["DatasetStore"]

_LARGEST_FILE = 1 << 36
"""Maximum size in bytes; the file is only as long as its content."""
_LOCKS = 8192
"""Bytes of LMDB's file of locks for 126 readers, its default."""
_PERIOD = 1.0
"""Seconds between writes of a dataset that is changed in place."""

_HEAD = struct.Struct("<16x I4x16x I92x Q Q")
"""The head of an LMDB file, with a second copy on the second page: magic number, page size, last
page, transaction."""
_MAGIC = 0xBEEFC0DE
_READ_ALL = """
import sys, lmdb
with lmdb.open(sys.argv[1], subdir=False, readonly=True, lock=False) as store, store.begin() as view:
    for key, value in view.cursor():
        bytes(value)
"""
"""Reads the file given as argument. Run in a separate process, because LMDB crashes on missing
pages."""


class DatasetStore(DatasetDB):
    """Broadcast datasets, of which the persistent ones are kept in the file `path`. It is opened on
    demand, and created with the first persistent dataset.

    UsageError if the file cannot be read or written; a dataset that could not be written is still
    held in memory.
    """

    def __init__(self, path):
        super().__init__()
        self.path = Path(path)
        self._place = self.path.absolute()
        """The same, wherever the working directory is when it is opened."""
        self._environment = None
        self._unsaved: set[str] = set()
        """Datasets changed in place since they were last written."""
        self._saved: dict[str, float] = {}
        """Time of the last write of each dataset, in seconds of the monotonic clock."""

    def check(self):
        """Raise UsageError if a file exists that is not a dataset store, or is incomplete. It is
        not changed."""
        if self._place.is_dir():
            raise UsageError(f"the dataset store {self.path} is a directory, not a file")
        try:
            with self._place.open("rb") as file:
                length = file.seek(0, 2)
                pages = _pages(file)
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._unusable(error.strerror) from None
        if length and pages is None:
            raise self._unusable("it is no LMDB file")
        # The last pages may be unused, and then need not exist.
        if length and pages > length and not self._can_be_read():
            raise self._unusable("it is damaged, or cut short")

    def _can_be_read(self) -> bool:
        """Return whether all datasets can be read, in a separate process, which LMDB crashes if a
        page is missing."""
        import subprocess  # imported late: few stores look damaged

        command = [sys.executable, "-c", _READ_ALL, str(self._place)]
        return subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0

    def _unusable(self, reason) -> UsageError:
        advice = "move it away, or name another one with --dataset-db"
        return UsageError(f"the dataset store {self.path} cannot be opened: {reason}; {advice}")

    def _open(self, create=False):
        """Return the environment; None if there is no file, or an empty one, and none should be created."""
        if self._environment is None and (create or self._has_content()):
            import lmdb  # imported late: most runs persist nothing

            self.check()
            try:
                self._place.parent.mkdir(parents=True, exist_ok=True)
                _reserve_locks(self._place)
                self._environment = lmdb.open(str(self._place), subdir=False, map_size=_LARGEST_FILE, metasync=False)
            except (OSError, lmdb.Error) as error:
                raise _cannot(error)(f"the dataset store {self.path} cannot be opened: {_reason(error)}") from None
        return self._environment

    def _has_content(self) -> bool:
        try:
            return self._place.stat().st_size > 0
        except FileNotFoundError:
            return False

    @contextmanager
    def _view(self, environment):
        """Open a read transaction; UsageError if the file is damaged."""
        import lmdb  # as above

        try:
            with environment.begin() as transaction:
                yield transaction
        except lmdb.Error as error:
            raise self._unusable(_reason(error)) from None

    def _kept(self, key) -> Broadcast | None:
        environment = self._open()
        if environment is None or not _fits(environment, key):
            return None
        with self._view(environment) as transaction:
            text = transaction.get(_bytes(key))
        return None if text is None else self._decoded(key, text)

    def _decoded(self, key, text) -> Broadcast:
        """Decode an entry; UsageError if it is damaged."""
        try:
            entry = pyon.decode(bytes(text).decode())
            if not (isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[1], dict)):
                raise ValueError("it is no pair of value and metadata")
        except (ValueError, TypeError) as error:
            advice = "'kairos datasets delete' removes it, 'set' replaces it"
            raise UsageError(f"the dataset {key!r} in {self.path} cannot be read: {error}; {advice}") from None
        return Broadcast(True, *entry)

    def _entry(self, key) -> Broadcast:
        entry = self.data.get(key) or self._kept(key)
        if entry is None:
            raise KeyError(key)
        return entry

    def keys(self) -> list[str]:
        """Return the names of all datasets, in order."""
        environment = self._open()
        kept = []
        if environment is not None:
            with self._view(environment) as transaction, transaction.cursor() as cursor:
                kept = [_name(key) for key in cursor.iternext(values=False)]
        return sorted({*self.data, *kept})

    def kept(self) -> dict[str, Broadcast]:
        """Return the content of the file, by name."""
        environment = self._open()
        if environment is None:
            return {}
        with self._view(environment) as transaction, transaction.cursor() as cursor:
            return {_name(key): self._decoded(_name(key), text) for key, text in cursor}

    def version(self) -> int | None:
        """Return a number that increases with every change of the file by any process; None if
        there is no file."""
        environment = self._open()
        return None if environment is None else environment.info()["last_txnid"]

    def get(self, key):
        return self._entry(key).value

    def get_metadata(self, key):
        return self._entry(key).metadata

    def set(self, key, value, persist=None, metadata=None):
        known = self.data.get(key)
        if known is None and not (persist and metadata is not None):
            known = self._known(key)
        if metadata is None and known is not None:
            metadata = known.metadata
        super().set(key, value, persist, metadata)
        if not persist:
            if known is None or not known.persist:
                return
            if persist is not None:
                self._remove(key)
                return
            super().set(key, value, True, metadata)
        self._write(key)

    def _known(self, key) -> Broadcast | None:
        """Return the entry in the file; one that is damaged has no metadata."""
        try:
            return self._kept(key)
        except UsageError:
            return Broadcast(True, None, {})

    def delete(self, key):
        try:
            is_kept = self._entry(key).persist
        except UsageError:
            is_kept = True  # a damaged entry can be deleted
        self.data.pop(key, None)
        if is_kept:
            self._remove(key)

    def changed(self, key):
        if key in self.data and self.data[key].persist:
            if time.monotonic() - self._saved.get(key, 0.0) >= _PERIOD:
                self._write(key)
            else:
                self._unsaved.add(key)

    def write_later(self, key):
        """Have `save` write a dataset that could not be written."""
        self._unsaved.add(key)

    def save(self):
        """Write datasets changed in place and not written yet."""
        for key in list(self._unsaved):
            self._write(key)

    def close_db(self):
        """Save, and close the file; it is reopened on demand."""
        try:
            self.save()
        finally:
            if self._environment is not None:
                self._environment.close()
                self._environment = None

    def _write(self, key):
        entry = self.data[key]
        try:
            text = pyon.encode((entry.value, entry.metadata)).encode()
        except TypeError as error:
            raise UsageError(f"the dataset {key} cannot be kept: {error}") from None
        self._change(key, lambda transaction: transaction.put(_bytes(key), text))
        self._saved[key] = time.monotonic()
        self._unsaved.discard(key)

    def _remove(self, key):
        self._unsaved.discard(key)
        self._change(key, lambda transaction: transaction.delete(_bytes(key)))

    def _change(self, key, change):
        environment = self._open(create=True)
        if not _fits(environment, key):
            raise UsageError(
                f"the name of a persistent dataset must have 1 to {environment.max_key_size()} bytes, not '{key}'"
            )
        import lmdb  # as above

        try:
            with environment.begin(write=True) as transaction:
                change(transaction)
        except (OSError, lmdb.Error) as error:
            raise _cannot(error)(f"the dataset {key} cannot be kept in {self.path}: {_reason(error)}") from None


def _fits(environment, key) -> bool:
    return 0 < len(_bytes(key)) <= environment.max_key_size()


def _name(key) -> str:
    """Return the name of a dataset; bytes that are not UTF-8 are kept as Python does for file
    names."""
    return bytes(key).decode(errors="surrogateescape")


def _bytes(name: str) -> bytes:
    return name.encode(errors="surrogateescape")


def _reserve_locks(path: Path):
    """Have the blocks of the file of LMDB's locks on the disk; OSError if that is full. LMDB writes it
    through a mapping, and on a full disk this would end the process (SIGBUS)."""
    with suppress(PermissionError):  # one that may only be read
        with Path(f"{path}-lock").open("ab") as file:
            os.posix_fallocate(file.fileno(), 0, _LOCKS)


def _cannot(error) -> type[UsageError]:
    """Return the class of errors that may pass: the disk is full, or fails."""
    import lmdb  # imported late: most runs persist nothing

    passing = isinstance(error, OSError | lmdb.DiskError | lmdb.MapFullError) or "No space left" in str(error)
    return Unwritable if passing else UsageError


def _reason(error) -> str:
    """Extract the cause from LMDB's text."""
    return str(error).rpartition(": ")[2].splitlines()[0]


def _pages(file) -> int | None:
    """Return the size in bytes of all pages of an LMDB file, used or not; None if it is not one."""
    heads = []
    for place in range(2):
        file.seek(heads[0][1] * place if heads else 0)
        content = file.read(_HEAD.size)
        if len(content) == _HEAD.size and content[16:20] == _MAGIC.to_bytes(4, "little"):
            heads.append(_HEAD.unpack(content))
        elif not heads:
            return None
    _, size, last, _ = max(heads, key=lambda head: head[3])
    return (last + 1) * size
