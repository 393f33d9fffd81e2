"""Whether the disk of a laboratory has room left."""

import os
from pathlib import Path

__all__ = ["shortage"]

ROOM = 2 << 20
"""Bytes that must be left on the disk for the files with which a run begins."""


def shortage(folder: Path) -> str | None:
    """Return that the disk of a folder is full, in a few words; None if it has room for the files with which a run
    begins. OSError if there is no such folder."""
    disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize >= ROOM:
        return None
    return f"the disk is full: less than {ROOM >> 20} MiB are left for {folder}"
