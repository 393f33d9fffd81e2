"""The process of a prediction: repeats a finished run on the twin, and adds the waveform to the run's file."""

import os
import signal
import sys
from pathlib import Path

from ..errors import KairosError
from ..experiment.arguments import DefaultMissing
from ..experiment.hdf5 import add_group
from ..twin.verification import predicted
from ..waveform.stored import GROUP
from .link import Link
from .results import synchronised
from .worker import redirect

__all__ = ["main"]

NICENESS = 19
LARGEST = 1 << 30
"""Bytes of a file to which a waveform is added, in memory."""


def main(folder: str, path: str, begin: dict):
    """Predict the waveform of the run with the file ``begin["file"]``, and report to the laboratory with
    the socket `path`."""
    redirect(Path(folder, "output"))
    os.nice(NICENESS)
    # The emulated device ends with this process, also if that is stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    link = Link(path, begin["rid"], {}, outlive=False)
    try:
        link.ended("predict", "completed", _added(Path(begin["file"]), begin))
    except (KairosError, DefaultMissing, OSError) as error:
        link.ended("predict", "failed", str(error))
    link.command()  # that this was received


def _added(file: Path, begin: dict) -> bool:
    """Add the waveform; returns whether there is one."""
    size = file.stat().st_size
    if size > LARGEST:
        raise KairosError(f"{file.name} is too large ({size >> 20} MiB)")
    found = predicted(file, begin["twin"], begin["within_s"], begin["longest_s"])
    if found is None:
        return False
    add_group(file, GROUP, found)
    synchronised(file)
    return True
