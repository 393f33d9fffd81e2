"""How early the outputs of a run were submitted, line by line.

The slack of an output is the time between its arrival at the RTIO core and its due time. An output
arrives a fixed time after the `sev` that submits it, or after the one before it, whichever is later
(docs/gateware/initiator.md, "Timing").
"""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from ..emulator.sources import UNKNOWN, Sources

__all__ = ["Line", "arrivals", "lines_of", "waiting_at"]

ARRIVAL_NS = 24 * 8
"""From `sev` to the acceptance of an output by the RTIO core: 24 cycles with the emulator's ACP."""
BETWEEN_NS = 3 * 8
"""Between two outputs that are not awaited."""
KEPT = 1 << 22
"""Outputs that the emulator records; later ones are not examined."""


Places = tuple[tuple[str, int], ...]
"""Files and lines."""


@dataclass(frozen=True)
class Line:
    """The outputs of a line of source, over all passes."""

    file: str
    line: int
    outputs: int
    passes: int
    """How often it was reached: the largest number of outputs from one place in its code to one
    target."""
    slack_ns: int | None = None
    """The least slack; None if no submission is known (played by DMA)."""
    at_pass: int | None = None
    """The pass with the least slack, from 1."""
    at_ns: int | None = None
    """When that output was due, since the page's time 0."""
    channel: int | None = None
    """Its RTIO channel."""
    waiting: int | None = None
    """Largest number of outputs that waited in the device when one of these was submitted."""
    called: Places = ()
    """Where the function was called from that made the output with the least slack, innermost first."""
    ways: tuple[tuple[Places, int], ...] = ()
    """Passes, by where the function was called from."""

    @property
    def place(self) -> str:
        """File and line, as ``blink.py:12``."""
        return f"{Path(self.file).name}:{self.line}"

    def described(self) -> dict:
        """Return the line as JSON."""
        return {name: value for name, value in vars(self).items() if name != "ways"}

    def passes_from(self, called: Places) -> int | None:
        """Return how often the line was reached by a function that was called from these places; None if it is not
        known."""
        return dict(self.ways).get(called)


def arrivals(submitted):
    """Return when outputs arrive at the RTIO core, from the times of their submission in ns (an
    array, in order); `UNKNOWN` stays."""
    known = submitted != UNKNOWN
    direct = submitted[known] + ARRIVAL_NS
    # Each at least BETWEEN_NS after the one before: a running maximum of what remains without that.
    steps = np.arange(len(direct)) * BETWEEN_NS
    arrived = np.maximum.accumulate(direct - steps) + steps if len(direct) else direct
    found = np.full(len(submitted), UNKNOWN, np.int64)
    found[known] = arrived
    return found


def waiting_at(due, arrived):
    """Return for each output how many waited in the device when it arrived, itself included; -1 if
    its arrival is not known, or if some other is not known."""
    if not len(arrived) or (arrived == UNKNOWN).any():
        return np.full(len(due), -1, np.int64)
    played = np.searchsorted(np.sort(np.maximum(due, arrived)), arrived, side="right")
    return np.arange(1, len(due) + 1) - played


def lines_of(sources: Sources, origin_ns: int = 0) -> list[Line]:
    """Return the lines of user code from which outputs come, by file and number. `origin_ns`: the
    page's time 0, since power-up."""
    outputs = sources.outputs
    if not len(outputs):
        return []
    due, chain, target = outputs["time_ns"], outputs["chain"], outputs["target"]
    slack, waiting = _slack_and_waiting(outputs)
    lines: dict[tuple[str, int], dict[int, Places]] = {}
    for number in np.unique(chain).tolist():
        for frames in {sources.frames(number), sources.recorded(number) or ()} - {()}:
            (place, *called) = ((frame.file, frame.line) for frame in frames)
            lines.setdefault(place, {})[number] = tuple(called)
    found = []
    for (file, line), chains in sorted(lines.items()):
        own = np.flatnonzero(np.isin(chain, list(chains)))
        places, counts = np.unique(chain[own].astype(np.int64) << 32 | target[own], return_counts=True)
        ways: dict[Places, int] = {}
        for number, count in zip((places >> 32).tolist(), counts.tolist(), strict=True):
            ways[chains[number]] = max(count, ways.get(chains[number], 0))
        timed = own[slack[own] != _NO_SLACK]
        values = {}
        if len(timed):
            least = int(timed[np.argmin(slack[timed])])
            same = (chain[: least + 1] == chain[least]) & (target[: least + 1] == target[least])
            values = {
                "slack_ns": int(slack[least]),
                "at_pass": int(np.count_nonzero(same)),
                "at_ns": int(due[least]) - origin_ns,
                "channel": int(target[least]) >> 8,
                "called": chains[int(chain[least])],
            }
        depth = int(waiting[own].max())
        waits = depth if depth > 0 else None
        found.append(Line(file, line, len(own), max(ways.values()), **values, waiting=waits, ways=tuple(ways.items())))
    return found


_NO_SLACK = np.iinfo(np.int64).max


def _slack_and_waiting(outputs):
    """Return slack and number of waiting outputs of each, board by board."""
    slack = np.full(len(outputs), _NO_SLACK, np.int64)
    waiting = np.full(len(outputs), -1, np.int64)
    # Boards follow one another; on each, the times of submission are in order.
    timed = np.flatnonzero(outputs["submitted_ns"] != UNKNOWN)
    drops = np.flatnonzero(np.diff(outputs["submitted_ns"][timed]) < 0)
    starts = [0, *timed[drops + 1].tolist(), len(outputs)]
    for first, end in pairwise(starts):
        due, arrived = outputs["time_ns"][first:end], arrivals(outputs["submitted_ns"][first:end])
        known = arrived != UNKNOWN
        slack[first:end][known] = due[known] - arrived[known]
        waiting[first:end] = waiting_at(due, arrived)
    return slack, waiting
