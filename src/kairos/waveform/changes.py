"""Changes of pins, kept in arrays: a run of some minutes has millions of them.

NumPy is imported late: it takes 0.15 s, in which an emulated device boots.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["FLOATING", "Changes", "Edges"]

FLOATING = -1
"""Level in an array of a pin that is not driven."""
_NOT_DRIVEN = 2
"""The same in the emulator's file."""
_RECORD = [("time_ns", "<i8"), ("pad", "<u4"), ("level", "<u4")]
"""A change in the emulator's file (docs/interfaces.md, section 7)."""

Change = tuple[int, int | None]
"""Time in ns, and the new level: 0, 1, or None if the pin is not driven."""


def _array(levels):
    import numpy as np  # imported late: see the head

    return np.array([FLOATING if level is None else level for level in levels], np.int8)


class Changes(Sequence):
    """The changes of one pin, in order: a sequence of `Change`, held as the arrays `times` (ns) and
    `levels` (0, 1 or FLOATING)."""

    def __init__(self, times, levels):
        self.times, self.levels = times, levels

    @classmethod
    def of(cls, changes: Sequence[Change]) -> "Changes":
        """Return these changes, converted if they are a list."""
        import numpy as np  # imported late: see the head

        if isinstance(changes, cls):
            return changes
        times = np.array([time for time, _ in changes], np.int64)
        return cls(times, _array(level for _, level in changes))

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Changes(self.times[index], self.levels[index])
        level = int(self.levels[index])
        return int(self.times[index]), None if level == FLOATING else level

    def __iter__(self) -> Iterator[Change]:
        for time, level in zip(self.times.tolist(), self.levels.tolist(), strict=True):
            yield time, None if level == FLOATING else level

    def __eq__(self, other) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None

    def __repr__(self) -> str:
        return repr(list(self))


class Edges(NamedTuple):
    """Changes of several pins in the order of time, as arrays: `times` in ns, `pads` and `levels`."""

    times: object
    pads: object
    levels: object

    @classmethod
    def of(cls, events) -> "Edges":
        """Return these events, converted if they are a list of (ns, pad, level)."""
        import numpy as np  # imported late: see the head

        if isinstance(events, cls):
            return events
        times, pads, levels = zip(*events, strict=True) if events else ((), (), ())
        return cls(np.array(times, np.int64), np.array(pads, np.int64), _array(levels))

    @classmethod
    def read(cls, path) -> "Edges":
        """Read the emulator's file."""
        import numpy as np  # imported late: see the head

        found = np.frombuffer(Path(path).read_bytes(), _RECORD)
        levels = found["level"].astype(np.int8)
        levels[found["level"] == _NOT_DRIVEN] = FLOATING
        return cls(found["time_ns"].astype(np.int64), found["pad"].astype(np.int64), levels)

    @classmethod
    def joined(cls, parts) -> "Edges":
        """Return the edges of several parts, one after the other."""
        import numpy as np  # imported late: see the head

        columns = zip(*parts, strict=True)
        return cls(*(np.concatenate(column) for column in columns))

    def part(self, chosen) -> "Edges":
        """Select edges by a slice, a mask or indices."""
        return Edges(*(column[chosen] for column in self))

    def listed(self) -> list[tuple[int, int, int | None]]:
        """Return (ns, pad, level) of each."""
        levels = (None if level == FLOATING else level for level in self.levels.tolist())
        return list(zip(self.times.tolist(), self.pads.tolist(), levels, strict=True))
