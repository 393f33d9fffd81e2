"""Temporary folders that no killed process leaves behind for long.

A folder is locked by the processes that use it. Whoever creates one first deletes those of the same
kind that nobody locks any more. The hub does so too (`Sockets` of src/hub/src/server.rs).
"""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

__all__ = ["ScratchFolder", "is_abandoned"]

LOCK = ".lock"
"""Name of the file in a folder that is locked while the folder is in use."""


class ScratchFolder:
    """A new folder at `path`, deleted by `close`, or else by the next process that creates one with
    the same `prefix`. It is in use as long as this process, or one that has inherited `lock`, has
    not ended."""

    def __init__(self, prefix: str):
        _delete_abandoned(prefix)
        self.path, self.lock = _locked(prefix)
        """`lock`: descriptor to be passed to processes that use the folder (`pass_fds`)."""

    def close(self):
        """Delete the folder, unless another process uses it: then the last one to end leaves it to
        the next run."""
        os.close(self.lock)
        _delete(self.path)


def _locked(prefix: str) -> tuple[Path, int]:
    """Create a folder and lock it; again if another process has deleted it before it was locked."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix))
        lock = os.open(path / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(lock).st_nlink:
            return path, lock
        os.close(lock)


def _delete_abandoned(prefix: str):
    for path in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        if path.is_dir() and not path.is_symlink():
            _delete(path)


def _delete(path: Path):
    """Delete a folder of this user that no process has locked."""
    lock = _try_lock(path)
    if lock is not None:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def is_abandoned(path: Path) -> bool:
    """Return whether a folder is one of this user that no process has locked. One without the file
    to lock is just being created, or is no such folder."""
    lock = _try_lock(path)
    if lock is None:
        return False
    os.close(lock)
    return True


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
