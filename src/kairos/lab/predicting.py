"""The process of a prediction: repeats a finished run on the twin, and adds the waveform to the run's file."""

from pathlib import Path

from ..errors import KairosError
from ..experiment.hdf5 import add_group
from ..twin.verification import predicted
from ..waveform.stored import GROUP
from .aside import work_aside
from .results import synchronised

__all__ = ["main"]

NICENESS = 19
LARGEST = 1 << 30
"""Bytes of a file to which a waveform is added, in memory."""


def main(folder: str, path: str, begin: dict):
    """Predict the waveform of the run with the file ``begin["file"]``, and report to the laboratory with
    the socket `path`."""
    work_aside("predict", NICENESS, folder, path, begin, lambda _: _added(Path(begin["file"]), begin))


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
