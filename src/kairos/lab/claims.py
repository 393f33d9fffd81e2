"""What a laboratory has to itself: its folder, which no other laboratory uses and no scheduler of one's own, and its
file of datasets, where the last write of two laboratories would win."""

import errno
import fcntl
import os
from contextlib import suppress
from pathlib import Path

from ..errors import UsageError
from ..labfolder import STATE
from ..runs import FolderLock, InUse, claim

__all__ = ["Claim", "FileClaim", "users"]

LOCK = "lock"
"""The file in the state of a laboratory that it keeps locked."""
MASTER = "artiq_master"
"""The program of ARTIQ's master, which keeps its file of datasets open."""


class Claim:
    """Reserves `folder`, with the laboratory's `state` in it, which is made, from now to `release` or the end of this
    process. UsageError if it is in use, or cannot be written."""

    def __init__(self, folder: Path, state: Path):
        try:
            state.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{state} cannot be created: {error.strerror}") from None
        try:
            self._lock = claim(state / LOCK)
        except InUse as other:
            raise UsageError(f"a laboratory is running in {folder} already (process {other.process})") from None
        except OSError as error:
            raise UsageError(f"{state / LOCK} cannot be locked: {error.strerror}") from None
        self._folder = FolderLock(folder)
        try:
            self._folder.acquire()
        except UsageError:
            os.close(self._lock)
            raise
        self._files: list[FileClaim] = []

    def reserve(self, path: Path):
        """Reserve a file of datasets, too; see `FileClaim`."""
        self._files.append(FileClaim(path))

    def release(self):
        """Give everything up."""
        for file in self._files:
            file.release()
        self._folder.release()
        os.close(self._lock)


class FileClaim:
    """Reserves the file of datasets at `path`, under all its names, from now to `release` or the end of this process;
    an empty one is made if there is none. UsageError if another laboratory or an ARTIQ master has it.

    The file itself is locked, not one beside it: links elsewhere lead to the same file.
    """

    def __init__(self, path: Path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = _opened(path)
        except OSError as error:
            raise UsageError(f"the dataset store {path} cannot be opened: {error.strerror}") from None
        try:
            self._lock(path)
        except UsageError:
            os.close(self._file)
            raise

    def _lock(self, path):
        advice = "name another file with dataset_db of lab.toml"
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise UsageError(f"the dataset store {path} cannot be locked: {error.strerror}") from None
            raise UsageError(f"the dataset store {path} belongs to {_laboratory(self._file)}: {advice}") from None
        for pid in users(self._file):
            if MASTER in _command(pid):
                raise UsageError(
                    f"the dataset store {path} is in use by an ARTIQ master (process {pid}): stop it, or {advice}"
                )

    def release(self):
        """Give the file up."""
        os.close(self._file)


def _opened(path: Path) -> int:
    """Open a file, which need not exist; one that may not be written for reading."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except PermissionError:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def _laboratory(file: int) -> str:
    """Describe the laboratory that has locked a file."""
    for pid in users(file):
        for opened in _files(pid):
            with suppress(OSError):
                place = Path(os.readlink(opened))
                if place.name == LOCK and place.parent.name == STATE:
                    return f"the laboratory in {place.parent.parent} (process {pid})"
    return "a laboratory of another user or computer"


def users(file: int) -> list[int]:
    """Return the other processes that have opened a file, as far as this user may know."""
    wanted, found = os.fstat(file), []
    for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))):
        for opened in _files(pid) if pid != os.getpid() else ():
            with suppress(OSError):
                if os.path.samestat(os.stat(opened), wanted):
                    found.append(pid)
                    break
    return found


def _files(pid: int) -> list[str]:
    """Return paths of the files that a process has open; those of other users are not known."""
    with suppress(OSError):
        return [f"/proc/{pid}/fd/{number}" for number in os.listdir(f"/proc/{pid}/fd")]
    return []


def _command(pid: int) -> list[str]:
    """Return the names of the program of a process and of its arguments."""
    with suppress(OSError):
        return [Path(os.fsdecode(part)).name for part in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")]
    return []
