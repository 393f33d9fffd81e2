"""Files that the user's code reads or executes in a run, as Python's audit events tell.

What a library in C opens by itself (h5py, for one) makes no such event.
"""

import os
import sys
import threading
from pathlib import Path
from weakref import WeakSet

from ..installed import libraries

__all__ = ["Opened", "hash_of_file"]

OURS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
LARGEST = 1 << 25
"""Bytes up to which a file is read for its hash; that of a larger one is its size and time."""
SYSTEM = ("/proc/", "/sys/", "/dev/")
"""Where files are no data, and reading one may change something."""
_WRITES = os.O_WRONLY | os.O_RDWR


class Opened:
    """Notes the files from now on, as long as the object exists."""

    def __init__(self):
        self.code: set[str] = set()
        """Python files that were executed or read, whether or not modules have them."""
        self.hashes: dict[str, str] = {}
        """SHA-256 of other files when they were first read, by their absolute paths."""
        self._written: set[str] = set()
        _begin()
        _watching.add(self)

    def executed(self, path: str):
        """Note code that has begun."""
        self.code.add(path)

    def opened(self, path: str, writes: bool):
        """Note a file that is about to be opened. What a run has written itself is no origin of it."""
        if writes:
            self._written.add(path)
        elif path not in self._written and path not in self.hashes and os.path.isfile(path):
            if path.endswith(".py"):
                self.code.add(path)
            else:
                self.hashes[path] = hash_of_file(path)


_watching: WeakSet[Opened] = WeakSet()
_begun: list[bool] = []
_busy = threading.local()


def _begin():
    if not _begun:
        _begun.append(True)
        sys.addaudithook(_note)


def _note(event: str, arguments: tuple):
    """Handle an audit event. Whatever happens here, what caused it goes on."""
    if event not in ("open", "exec", "sqlite3.connect") or not _watching or getattr(_busy, "now", False):
        return
    _busy.now = True
    try:
        if event == "exec":
            path = arguments[0].co_filename
            if not path.startswith(("<", *libraries())) and os.path.isfile(path):
                for each in list(_watching):
                    each.executed(os.path.abspath(path))
            return
        path = arguments[0]
        if isinstance(path, str | bytes | os.PathLike) and _is_of_user(sys._getframe(1)):
            writes = event == "open" and _is_written(*arguments[1:3])
            full = os.path.abspath(os.fsdecode(path))
            if not full.startswith((*SYSTEM, *libraries())):
                for each in list(_watching):
                    each.opened(full, writes)
    except Exception:  # of a path that is none, or of a disk
        pass
    finally:
        _busy.now = False


def _is_of_user(frame) -> bool:
    """Return whether the user's code wants this, by itself or through a library: not Kairos, nor an import."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(("<frozen importlib", OURS)):
            return False
        if not name.startswith(("<frozen", *libraries())):
            return True
        frame = frame.f_back
    return False


def _is_written(mode, flags) -> bool:
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return bool(isinstance(flags, int) and flags & _WRITES)


def hash_of_file(path: str) -> str:
    """Return the SHA-256 of a file; of a large one, its size and time. OSError."""
    status = os.stat(path)
    if status.st_size > LARGEST:
        return f"{status.st_size} bytes of {status.st_mtime_ns} ns"
    import hashlib  # imported late: it loads OpenSSL, and a run needs it at its end

    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
