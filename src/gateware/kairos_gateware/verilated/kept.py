"""Built simulations in the user's cache, found again by what they were made from: a fresh clone, or a second work tree,
needs no compiler for what this computer has compiled before."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

__all__ = ["cache_folder", "fetch", "keep"]

LIMIT = 256 << 20
"""Bytes that are kept; those that were not used for longest go first."""


def cache_folder() -> Path:
    """Of Kairos, for the user; it need not exist."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kairos"


def fetch(key: str, *files: Path) -> bool:
    """Copy what was kept under `key` to `files`, each complete or untouched; returns whether all were there."""
    entry = cache_folder() / "gateware" / key
    try:
        for file in files:
            _copy(entry / file.name, file)
        os.utime(entry)
    except OSError:  # not kept, deleted by another process, or no readable cache
        return False
    return True


def keep(key: str, *files: Path):
    """Keep copies of `files`. Nothing happens where the cache cannot be written."""
    folder = cache_folder() / "gateware"
    with suppress(OSError):
        (folder / key).mkdir(parents=True, exist_ok=True)
        for file in files:
            _copy(file, folder / key / file.name)
        _delete_oldest(folder)


def _copy(source: Path, target: Path):
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        shutil.copy(source, partial)
        with open(partial, "rb") as written:
            os.fsync(written.fileno())  # after a power cut, what has its name is complete
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _delete_oldest(folder: Path):
    entries = sorted(folder.iterdir(), key=lambda entry: -entry.stat().st_mtime)
    total = 0
    for entry in entries:
        total += sum(file.stat().st_size for file in entry.iterdir())
        if total > LIMIT:
            shutil.rmtree(entry, ignore_errors=True)
