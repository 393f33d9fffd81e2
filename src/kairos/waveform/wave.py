"""Clock signal at a pin, represented by the accumulator from which all its edges follow."""

from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Wave"]

CYCLE_NS = 8
"""Duration of a PL cycle."""


class Wave(NamedTuple):
    """A pin driven by the highest bit of an accumulator to which a word is added each cycle
    (docs/interfaces.md, section 7)."""

    pad: int
    time_ns: int
    """Start of a cycle; the changes follow it."""
    half: int
    """The highest bit of the accumulator."""
    accumulator: int
    """Value of the accumulator in that cycle."""
    word: int
    changes: int
    """Number of level changes."""

    @property
    def initial(self) -> int:
        """Level before the first change."""
        return int(self.accumulator & self.half != 0)

    @property
    def final(self) -> int:
        """Level after the last change."""
        return self.initial ^ self.changes & 1

    @property
    def frequency_hz(self) -> float:
        """Mean frequency."""
        return self.word / (2 * self.half * CYCLE_NS * 1e-9)

    def time_of(self, number: int) -> int:
        """Time in ns of the change `number`, counted from 0."""
        missing = self.half * (number + 1) - self.accumulator % self.half
        return self.time_ns + -(-missing // self.word) * CYCLE_NS

    def edges(self) -> Iterator[tuple[int, int]]:
        """(time in ns, new level) of every change."""
        # Incremental, since there may be millions.
        half, word, time, level = self.half, self.word, self.time_ns, self.initial
        missing = half - self.accumulator % half
        for _ in range(self.changes):
            cycles = -(-missing // word)
            time += cycles * CYCLE_NS
            missing += half - cycles * word
            level ^= 1
            yield time, level

    def edge_arrays(self) -> tuple:
        """As `edges`, as arrays of times and levels."""
        import numpy as np  # imported late: it takes 0.15 s, in which a device boots

        numbers = np.arange(self.changes, dtype=np.int64)
        missing = self.half * (numbers + 1) - self.accumulator % self.half
        times = self.time_ns + -(-missing // self.word) * CYCLE_NS
        return times, ((numbers + 1 + self.initial) & 1).astype(np.int8)

    def _count_before(self, time_ns: int) -> int:
        """Return the number of changes before a time."""
        cycles = -(-(time_ns - self.time_ns) // CYCLE_NS) - 1
        reached = self.accumulator % self.half + self.word * cycles
        return min(self.changes, max(0, reached // self.half))

    def before(self, time_ns: int) -> "Wave":
        """Return the part before a time."""
        return self._replace(changes=self._count_before(time_ns))

    def since(self, time_ns: int) -> "Wave":
        """Return the part from a time on."""
        cycles = max(0, -(-(time_ns - self.time_ns) // CYCLE_NS) - 1)
        passed = self._count_before(time_ns)
        accumulator = (self.accumulator + self.word * cycles) % (2 * self.half)
        time = self.time_ns + cycles * CYCLE_NS
        return self._replace(time_ns=time, accumulator=accumulator, changes=self.changes - passed)

    def moved(self, ns: int) -> "Wave":
        """Return the wave shifted later by `ns`."""
        return self._replace(time_ns=self.time_ns + ns)
