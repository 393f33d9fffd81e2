"""The processes that compare ended runs: two with each other, or one with its repetition on the twin."""

from pathlib import Path

from ..twin import verification
from ..twin.comparison import compared
from .aside import work_aside

__all__ = ["diff", "verify"]

NICENESS = 19
MOST = 1000
"""Differences that are reported."""


def diff(folder: str, path: str, begin: dict):
    """Compare the runs with the files ``begin["files"]``, and report to the laboratory with the socket `path`."""
    work_aside("diff", NICENESS, folder, path, begin, lambda _: _differences(begin))


def verify(folder: str, path: str, begin: dict):
    """Repeat the run with the file ``begin["file"]``, likewise."""
    work_aside("verify", NICENESS, folder, path, begin, lambda _: _verified(Path(begin["file"])))


def _differences(begin: dict) -> dict:
    files = [Path(each) for each in begin["files"]]
    found, differs, events, notices = compared(files, begin["recorded"])
    shown = [{"kind": "register", **vars(each), "text": each.text} for each in found[:MOST]]
    return {"differences": shown, "total": len(found), "same": not differs, "events": events, "notices": notices}


def _verified(file: Path) -> dict:
    found = verification.compared(file)
    return {**found, "differences": found["differences"][:MOST], "total": len(found["differences"])}
