"""Processes of laboratories."""

from pathlib import Path

__all__ = ["keepers"]


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
