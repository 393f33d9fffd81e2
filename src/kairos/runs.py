"""Numbers, folders and result files of runs.

A run gets a number that no other run of its folder has, also if several processes ask at once, and
a place for its results that holds no other run's.
"""

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from . import resultfiles
from .errors import UsageError

__all__ = ["FolderLock", "InUse", "RIDCounter", "ResultsFile", "claim", "folder_of", "is_replaceable"]

NUMBERED = "{rid:09d}-{name}.h5"
"""Name of the file of a run."""


def folder_of(started: float, results="results") -> Path:
    """Create and return the directory for the files of a run, named by the hour of `started`, in
    seconds of Unix time."""
    folder = Path(results, time.strftime("%Y-%m-%d/%H", time.localtime(started))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class InUse(Exception):
    """Another process has claimed a file: its number in ``process``, or ``"unknown"``."""

    def __init__(self, process: str):
        super().__init__(process)
        self.process = process


def claim(path) -> int:
    """Lock the file at `path` until the end of this process, whose number is written into it; returns the
    descriptor, whose closing gives the file up. InUse, OSError."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.truncate(lock, 0)
        os.write(lock, f"{os.getpid()}\n".encode())
    except BaseException as error:
        other = os.read(lock, 20).decode(errors="replace").strip()
        os.close(lock)
        if isinstance(error, BlockingIOError):
            raise InUse(other or "unknown") from None
        raise
    return lock


class FolderLock:
    """Reserves a folder for schedulers of this process, from `acquire` to `release` or its end. In
    one process several may share it."""

    NAME = ".scheduler.lock"
    _held: dict[Path, list[int]] = {}
    """The descriptor of each locked file, and how many share it. A second descriptor would be
    another lock."""

    def __init__(self, folder):
        self._path = Path(folder).resolve() / self.NAME
        self._is_held = False

    def acquire(self):
        """Lock the folder; UsageError if a scheduler of another process uses it."""
        if self._is_held:
            return
        if self._path not in self._held:
            self._held[self._path] = [self._locked(), 0]
        self._held[self._path][1] += 1
        self._is_held = True

    def _locked(self) -> int:
        try:
            return claim(self._path)
        except OSError as error:
            raise UsageError(f"{self._path} cannot be locked: {error.strerror}") from None
        except InUse as other:
            raise UsageError(
                f"a scheduler uses {self._path.parent} already (process {other.process}): stop it, or start this one "
                "in another folder"
            ) from None

    def release(self):
        """Unlock the folder, if nobody else in this process uses it."""
        if self._is_held:
            self._is_held = False
            self._held[self._path][1] -= 1
            if not self._held[self._path][1]:
                os.close(self._held.pop(self._path)[0])


class RIDCounter:
    """Allocates run numbers, continuing from `cache_filename` or, if it is higher, from the highest
    number that begins a file name in the newest folder of `results_dir`; without a valid
    `cache_filename` in any of its folders. Counters of the same file share their numbers, in any
    process, and so do those of the same results, by a file in their folder: a laboratory and
    ``kairos run -o``."""

    NAME = "last_rid.pyon"

    def __init__(self, cache_filename=NAME, results_dir="results"):
        self._cache, self._results = Path(cache_filename), Path(results_dir)
        self.folder = self._cache.resolve().parent
        kept, found = _kept(self._cache), map(_highest, _hours(self._results))
        # There may be years of results: one folder shows whether the file is an old copy.
        self._found = max(found, default=-1) if kept < 0 else max(kept, next(filter(_is_number, found), -1))

    def get(self, above: int = -1) -> int:
        """Allocate the next number, which is greater than `above`. UsageError if that cannot be noted."""
        with _alone(self._cache):
            shared = self._shared()
            if shared is None:
                return self._next(above, self._cache)
            with _alone(shared):
                return self._next(above, self._cache, shared)

    def _shared(self) -> Path | None:
        """Return the file of numbers in the folder of the results, if there can be one."""
        path = self._results / self.NAME
        if path.resolve() == self._cache.resolve():
            return None
        try:
            self._results.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None  # which whoever writes results there reports
        return path if os.access(self._results, os.W_OK) else None

    def _next(self, above: int, *files: Path) -> int:
        self._found = max(self._found, above, *map(_kept, files)) + 1
        for path in files:
            new = path.with_name(path.name + ".new")
            try:
                new.write_text(f"{self._found}\n")
                new.replace(path)
            except OSError as error:
                raise UsageError(f"the number of the run cannot be kept in {path}: {error.strerror}") from None
        return self._found


def _kept(path: Path) -> int:
    """Return the last number according to a file; -1 if it has none."""
    try:
        return int(path.read_text())
    except (OSError, ValueError, TypeError):
        return -1


@contextmanager
def _alone(path: Path):
    """Keep out other processes from a file of numbers. UsageError."""
    try:
        lock = path.with_name(f".{path.name}.lock").open("w")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:  # of a file system without locks
            raise UsageError(f"{path} cannot be locked: {error.strerror}") from None
        yield


def _hours(results: Path) -> Iterator[Path]:
    """Yield the folders ``DATE/HOUR`` of results, the newest first."""
    for date in _folders(results):
        yield from _folders(date)


def _folders(folder: Path) -> list[Path]:
    """Return the folders in a folder, in descending order of their names."""
    return sorted((path for path in _entries(folder) if path.is_dir()), reverse=True)


def _highest(hour: Path) -> int:
    """Return the highest number of a run with a file in a folder, or -1."""
    numbers = (re.match(r"(\d{9})-.*\.h5$", path.name) for path in _entries(hour))
    return max((int(number[1]) for number in numbers if number), default=-1)


def _entries(folder: Path) -> list[Path]:
    """Return what is in a folder; nothing if it cannot be read."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _is_number(number: int) -> bool:
    return number >= 0


_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_PLACES = (0, 512, 1024, 2048)
"""Where an HDF5 file may have its signature; behind that come sizes that nobody uses."""


def is_replaceable(path: Path) -> bool:
    """Return whether results may replace a file: an HDF5 file, or an empty one. OSError."""
    with path.open("rb") as file:
        head = file.read(_PLACES[-1] + len(_SIGNATURE))
    return not head or any(head.startswith(_SIGNATURE, place) for place in _PLACES)


class ResultsFile:
    """Where the datasets of a run are written, as the user named it: a file, or a directory (an
    existing one, or a name that ends with a slash), in which each run has a file
    ``DATE/HOUR/NUMBER-CLASS.h5``.
    """

    def __init__(self, named: str):
        self.named = Path(named)
        self.is_folder = str(named).endswith("/") or self.named.is_dir()
        self._before = self._state()
        self._replaces = self._before is not None and self._before[2] > 0
        self.was_changed = False
        """Whether the file was written by others until `path` was called."""

    def _state(self) -> tuple | None:
        """Return what distinguishes the file from another at its place, with its size; None if there is none."""
        if self.is_folder or not self.named.exists():
            return None
        status = self.named.stat()
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    def next_rid(self) -> int:
        """Return the number of this run: in a directory the next one; otherwise one more than that
        of the run whose file is to be replaced, or 0."""
        if self.is_folder:
            self.named.mkdir(parents=True, exist_ok=True)
            return RIDCounter(self.named / "last_rid.pyon", self.named).get()
        return _rid_in(self.named) + 1 if self._replaces else 0

    def path(self, rid: int, name: str, started: float, completed: bool) -> Path:
        """Return the file for the datasets of a run of the experiment `name`, which began at
        `started` (Unix time). The results of an earlier run are replaced only by those of one that
        has `completed`: others are written next to them, and so is everything if the file is not the one
        that was there when the run began."""
        if self.is_folder:
            return folder_of(started, self.named) / NUMBERED.format(rid=rid, name=name)
        self.was_changed = self._state() != self._before or self._before is None and not _is_made(self.named)
        if not self.was_changed and (completed or not self._replaces):
            return self.named
        word = "" if completed else "-incomplete"
        number, path = 1, self._beside(word or "-2")
        while not _is_made(path):
            number += 1
            path = self._beside(f"{word}-{number}")
        return path

    def give_up(self, path: Path):
        """Remove a file that `path` has returned, if nothing could be written there."""
        with suppress(OSError):
            if path.resolve().stat().st_size == 0 and self._before is None:
                path.resolve().unlink()

    def _beside(self, what: str) -> Path:
        return self.named.with_name(f"{self.named.stem}{what}{self.named.suffix}")


def _is_made(path: Path) -> bool:
    """Return whether there was no file there, but now is an empty one, by which others know that it is in use."""
    try:
        path.resolve().parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path.resolve(), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
    except FileExistsError:
        return False
    except OSError:
        return True  # whoever writes there reports it
    return True


def _rid_in(path: Path) -> int:
    """Return the number of the run that wrote a file; -1 if it has none."""
    try:
        with resultfiles.opened(path) as file:
            return int(resultfiles.value(file["rid"]))
    except UsageError:
        return -1
