"""The lanes of a page: data drawn over the time axis, and their encoding for the browser.

Times are nanoseconds since the page's time 0, in order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

__all__ = ["FLOATING", "Lane", "Levels", "Marks", "Packer", "Steps", "Words"]

FLOATING, CLOCKING = 2, 3
"""Levels besides 0 and 1: the pin is not driven, or a clock (the next one of `clocks`) runs from
here on."""


class Packer:
    """Collects arrays in one block of bytes, each aligned to 8 bytes, and texts; what occurs twice is
    there once."""

    def __init__(self):
        self.blocks: list[bytes] = []
        self.texts: dict[str, int] = {}
        self._size = 0
        self._places: dict[bytes, int] = {}

    def array(self, values, kind) -> list[int]:
        """Add an array; returns its first byte and number of elements."""
        values = np.asarray(values, dtype=kind)
        block = values.astype(values.dtype.newbyteorder("<")).tobytes()
        block += bytes(-len(block) % 8)
        place = self._places.setdefault(blake2b(block).digest(), self._size)
        if place == self._size:
            self.blocks.append(block)
            self._size += len(block)
        return [place, len(values)]

    def text(self, text: str) -> int:
        """Return the number of a text in the page."""
        return self.texts.setdefault(text, len(self.texts))


@dataclass
class Lane:
    """A named row of the page, shown with those of the same `group` (a path of names)."""

    name: str
    group: tuple[str, ...] = ()

    @property
    def end_ns(self) -> float:
        """Time of the last change; 0 if there is none."""
        return float(self.times[-1]) if len(self.times) else 0.0

    def packed(self, packer: Packer) -> dict:
        """Return the lane as JSON, with the locations of its arrays."""
        return {"name": self.name, "group": list(self.group)} | self._content(packer)

    def _content(self, packer) -> dict:
        raise NotImplementedError


@dataclass
class Levels(Lane):
    """A pin: the level before the first change, then timed changes to 0, 1, FLOATING or CLOCKING.

    `clocks` has, for each CLOCKING, the numbers that determine the edges (`kairos.waveform.Wave`):
    time in ns, half, accumulator, word, number of changes.
    """

    initial: int = 0
    times: Sequence[int] = ()
    levels: Sequence[int] = ()
    clocks: list[tuple[int, ...]] = field(default_factory=list)

    def _content(self, packer):
        return {
            "kind": "levels",
            "initial": self.initial,
            "clocks": [list(clock) for clock in self.clocks],
            "t": packer.array(self.times, np.float64),
            "v": packer.array(self.levels, np.uint8),
        }


@dataclass
class Steps(Lane):
    """A quantity that keeps its value until the next time; NaN: unknown or absent."""

    unit: str = ""
    times: Sequence[int] = ()
    values: Sequence[float] = ()

    def _content(self, packer):
        return {
            "kind": "steps",
            "unit": self.unit,
            "t": packer.array(self.times, np.float64),
            "v": packer.array(self.values, np.float64),
        }


@dataclass
class Marks(Lane):
    """Points in time, each with a text, which may be empty: its own of `texts`, or, if there are few and
    many points, that of its number in `which`."""

    times: Sequence[int] = ()
    texts: Sequence[str] = ()
    which: Sequence[int] | None = None

    def _content(self, packer):
        numbers = np.array([packer.text(text) for text in self.texts], np.uint32)
        return {
            "kind": "marks",
            "t": packer.array(self.times, np.float64),
            "v": packer.array(numbers if self.which is None else numbers[self.which], np.uint32),
        }


@dataclass
class Words(Lane):
    """Words on a bus, each with start, end and text. They must not overlap."""

    times: Sequence[int] = ()
    ends: Sequence[int] = ()
    texts: Sequence[str] = ()

    def _content(self, packer):
        return {
            "kind": "words",
            "t": packer.array(self.times, np.float64),
            "e": packer.array(self.ends, np.float64),
            "v": packer.array([packer.text(text) for text in self.texts], np.uint32),
        }
