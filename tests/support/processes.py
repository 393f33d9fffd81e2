"""Processes of laboratories."""

import os
from pathlib import Path

__all__ = ["keepers", "processes"]


def keepers(folder: Path) -> list[int]:
    """Return the processes that keep an emulated device of the laboratory in a folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"kairos.lab.device" in words and str(folder).encode() in b" ".join(words):
            found.append(int(entry.parent.name))
    return found


def processes(folder: Path) -> dict[int, str]:
    """Return the processes that have something to do with a folder: by command, working directory or open file."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        if int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            places = [os.readlink(entry / "cwd"), *(os.readlink(link) for link in (entry / "fd").iterdir())]
        except OSError:
            continue
        if str(folder) in command or any(place.startswith(str(folder)) for place in places):
            found[int(entry.name)] = command
    return found
