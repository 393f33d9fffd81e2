"""Processes of laboratories."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import PATIENCE

__all__ = ["ended", "keepers", "processes"]


@contextmanager
def ended(*started: subprocess.Popen) -> Iterator[None]:
    """Context of processes whose output is read: at its end they are killed, and earlier if that takes too long, as
    there is no other end to waiting for a line."""

    def kill():
        for each in started:
            each.kill()

    late = threading.Timer(3 * PATIENCE, kill)
    late.daemon = True
    late.start()
    try:
        yield
    finally:
        late.cancel()
        kill()


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
