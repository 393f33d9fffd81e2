"""Outputs that the device could not produce, with the lines from which they come.

The device's log names error and channel only. The lines are those whose outputs fit the error; more
than one may.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..emulator.sources import Sources

__all__ = ["Lost", "places_of"]

CYCLE_NS = 8
LINE = re.compile(r"RTIO (collision|busy error|sequence error) involving channel (0x[0-9a-f]+):(\S*)$")
REASONS = {
    "collision": "of two outputs in one cycle the one that was submitted first is lost",
    "busy error": "an output that came before the one before it was done is lost",
    "sequence error": "an output that was submitted too late, behind too many later ones, is lost",
}


@dataclass(frozen=True)
class Lost:
    """One kind of error on one channel."""

    error: str
    """``collision``, ``busy error`` or ``sequence error``."""
    channel: str
    count: int
    places: tuple[tuple[str, int], ...] = ()
    """File and line of the outputs that may have been lost."""

    @property
    def reason(self) -> str:
        """What happens to the output."""
        return REASONS[self.error]

    @property
    def text(self) -> str:
        """Describe it in one line."""
        where = ", ".join(f"{Path(file).name}:{line}" for file, line in self.places)
        times = "" if self.count == 1 else f" ({self.count:,} times)"
        return f"{self.error} on {self.channel}{times}{f' at {where}' if where else ''}: {self.reason}"


def places_of(log: list[str], sources: Sources, names: dict[int, str]) -> list[Lost]:
    """Return the errors in the lines of a device's log. `names`: of RTIO channels."""
    counts: dict[tuple[str, int, str], int] = {}
    for line in log:
        found = LINE.search(line)
        if found:
            number = int(found[2], 0)
            key = found[1], number, names.get(number, found[3] or f"channel {number}")
            counts[key] = counts.get(key, 0) + 1
    return [
        Lost(error, name, count, _candidates(error, number, sources)) for (error, number, name), count in counts.items()
    ]


def _candidates(error: str, channel: int, sources: Sources) -> tuple[tuple[str, int], ...]:
    outputs = sources.outputs
    own = np.flatnonzero(outputs["target"] >> 8 == channel)
    due = outputs["time_ns"][own]
    if error == "collision":
        order = np.argsort(due // CYCLE_NS, kind="stable")
        same = np.diff(due[order] // CYCLE_NS) == 0
        lost = own[order[:-1][same]] if len(order) else own
    elif error == "sequence error":
        before = np.maximum.accumulate(outputs["time_ns"])
        lost = own[due < before[own]]
    else:
        order = np.argsort(due, kind="stable")
        gaps = np.diff(due[order])
        lost = own[order[1:][gaps == gaps.min()]] if len(gaps) else own
    places: dict[tuple[str, int], None] = {}
    for chain in np.unique(outputs["chain"][lost]).tolist():
        frames = sources.recorded(chain) or sources.frames(chain)
        if frames:
            places[frames[0].file, frames[0].line] = None
    return tuple(sorted(places))
