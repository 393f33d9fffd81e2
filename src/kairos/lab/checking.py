"""The processes that compare ended runs: two with each other, or one with its repetition on the twin."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from ..errors import KairosError
from ..experiment.arguments import DefaultMissing
from ..twin import verification
from ..twin.comparison import compared
from .link import Link
from .worker import redirect

__all__ = ["diff", "verify"]

NICENESS = 19
MOST = 1000
"""Differences that are reported."""


def diff(folder: str, path: str, begin: dict):
    """Compare the runs with the files ``begin["files"]``, and report to the laboratory with the socket `path`."""
    _work("diff", folder, path, begin, lambda: _differences(begin))


def verify(folder: str, path: str, begin: dict):
    """Repeat the run with the file ``begin["file"]``, likewise."""
    _work("verify", folder, path, begin, lambda: _verified(Path(begin["file"])))


def _work(kind: str, folder: str, path: str, begin: dict, work: Callable[[], dict]):
    redirect(Path(folder, "output"))
    os.nice(NICENESS)
    # The emulated device ends with this process, also if that is stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    link = Link(path, begin["rid"], {}, outlive=False)
    try:
        link.ended(kind, "completed", work())
    except (KairosError, DefaultMissing, OSError) as error:
        link.ended(kind, "failed", str(error))
    link.command()  # that this was received


def _differences(begin: dict) -> dict:
    files = [Path(each) for each in begin["files"]]
    found, differs, events, notices = compared(files, begin["recorded"])
    shown = [{"kind": "register", **vars(each), "text": each.text} for each in found[:MOST]]
    return {"differences": shown, "total": len(found), "same": not differs, "events": events, "notices": notices}


def _verified(file: Path) -> dict:
    found = verification.compared(file)
    return {**found, "differences": found["differences"][:MOST], "total": len(found["differences"])}
