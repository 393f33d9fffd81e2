"""Temporary folders that no killed process leaves behind for long.

A folder is locked by the processes that use it, and its name contains the number of the process that
created it, which may be killed before it has locked it. Whoever creates one first deletes those of the
same kind that nobody uses any more. The hub does so too (`Sockets` of src/hub/src/plugins/host.rs).
"""

import fcntl
import os
import re
import shutil
import tempfile
import weakref
from pathlib import Path

__all__ = ["ScratchFolder", "is_abandoned"]

LOCK = ".lock"
"""Name of the file in a folder that is locked while the folder is in use."""


class ScratchFolder:
    """A new folder at `path`, in the folder `within` (by default that for temporary files), deleted by
    `close`, at the end of this process, or else by the next process that creates one with the same
    `prefix`. It is in use as long as this process, or one that has inherited `lock`, has not ended."""

    def __init__(self, prefix: str, within: str | Path | None = None):
        folder = Path(within or tempfile.gettempdir())
        _delete_abandoned(folder, prefix)
        self.path, self.lock = _locked(folder, prefix)
        """`lock`: descriptor to be passed to processes that use the folder (`pass_fds`)."""
        self._closing = weakref.finalize(self, _close, self.path, self.lock)

    def close(self):
        """Delete the folder, unless another process uses it: then the last one to end leaves it to
        the next run. Harmless if it is closed already."""
        self._closing()


def _close(path: Path, lock: int):
    os.close(lock)
    _delete(path)


def _locked(folder: Path, prefix: str) -> tuple[Path, int]:
    """Create a folder and lock it; again if another process has deleted it before it was locked."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=folder))
        lock = os.open(path / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(lock).st_nlink:
            return path, lock
        os.close(lock)


def _delete_abandoned(folder: Path, prefix: str):
    for path in folder.glob(f"{prefix}*"):
        if path.is_dir() and not path.is_symlink():
            _delete(path)


def _delete(path: Path):
    """Delete a folder of this user that no process uses."""
    lock = _try_lock(path)
    if lock is not None:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)
    elif _has_dead_creator(path):
        shutil.rmtree(path, ignore_errors=True)


def is_abandoned(path: Path) -> bool:
    """Return whether a folder is one of this user that no process uses."""
    lock = _try_lock(path)
    if lock is None:
        return _has_dead_creator(path)
    os.close(lock)
    return True


def _has_dead_creator(path: Path) -> bool:
    """Return whether a folder of this user has no lock, and the process that would have locked it has ended."""
    creator = re.search(r"-(\d+)-[^-]*$", path.name)
    try:
        if creator is None or path.stat().st_uid != os.getuid() or (path / LOCK).exists():
            return False
        os.kill(int(creator[1]), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False  # deleted, or of another user
    return False


def _try_lock(path: Path) -> int | None:
    """Lock a folder of this user; return the descriptor that holds the lock, or None if there is
    nothing to lock or another process holds it."""
    try:
        if path.stat().st_uid != os.getuid():
            return None
        lock = os.open(path / LOCK, os.O_RDWR)
    except OSError:
        return None  # being created, or deleted
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock
