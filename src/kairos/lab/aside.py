"""Processes that work beside the runs, such as rehearsals and predictions: they give way, and have one result."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from ..errors import KairosError
from ..experiment.arguments import DefaultMissing
from .link import Link
from .output import redirect

__all__ = ["work_aside"]


def work_aside(
    kind: str,
    niceness: int,
    folder: str,
    path: str,
    begin: dict,
    work: Callable[[Link], object],
    text_of: Callable[[Exception], str] = str,
):
    """Report what `work` returns, or why it fails (as `text_of` says), to the laboratory with the socket `path`, as the
    result of a process of this `kind`. `folder`: its own; `begin`: its request."""
    redirect(Path(folder, "output"))
    os.nice(niceness)
    # An emulated device ends with this process, also if that is stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    link = Link(path, begin["rid"], {}, outlive=False)
    try:
        link.ended(kind, "completed", work(link))
    except (KairosError, DefaultMissing, OSError) as error:
        link.ended(kind, "failed", text_of(error))
    link.command()  # that this was received
