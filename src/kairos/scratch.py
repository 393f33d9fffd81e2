"""Temporary folders that no killed process leaves behind for long.

A folder is locked by the processes that use it. Whoever creates one first deletes those of the same
kind that nobody locks any more.
"""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

__all__ = ["ScratchFolder"]

LOCK = ".lock"


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
    try:
        if path.stat().st_uid != os.getuid():
            return
        lock = os.open(path / LOCK, os.O_RDWR)
    except OSError:
        return  # being created, or deleted
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    except OSError:
        pass  # it is in use
    finally:
        os.close(lock)
