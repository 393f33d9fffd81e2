"""The points of a sweep: a grid of named values, or a random sample, each repeated.

A name is an argument of the experiment, or a number of the bench file: ``crystal.calcium.mode.heating_hz``,
or the end of such a name if it is the only one.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from ... import pyon
from ...errors import CommandLineError, UsageError
from ...experiment.arguments import quantity

__all__ = ["Dimension", "Point", "Space", "Uniform", "dimension"]

MOST = 10_000_000
"""Points of a sweep."""


@dataclass(frozen=True)
class Uniform:
    """Random values between two numbers, of equal probability."""

    low: float
    high: float


@dataclass(frozen=True)
class Dimension:
    """A quantity that varies."""

    name: str
    values: Sequence | Uniform

    @property
    def is_random(self) -> bool:
        """Whether its values are drawn."""
        return isinstance(self.values, Uniform)


@dataclass(frozen=True)
class Point:
    """A point of a sweep."""

    number: int
    values: dict[str, Any]
    """By the name of a dimension."""
    seed: int
    """Of all random numbers."""


@dataclass(frozen=True)
class Space:
    """All points. The last dimension varies fastest, then the repetitions. Random dimensions vary
    together, along one dimension ``sample``, which follows the others."""

    dimensions: tuple[Dimension, ...]
    repeats: int = 1
    samples: int = 0
    seed: int = 0
    _drawn: dict = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self):
        names = [each.name for each in self.dimensions]
        for each in self.dimensions:
            if not isinstance(each.name, str) or not each.name:
                raise CommandLineError(f"what is scanned has a name, and {each.name!r} is none")
            if each.is_random and not 0 <= each.values.high - each.values.low < np.inf:
                interval = f"{each.values.low:g}~{each.values.high:g}"
                raise CommandLineError(f"{each.name} = {interval} is no interval: give the lower number first")
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise CommandLineError(f"{min(twice)} is scanned twice")
        for each in self.dimensions:
            if not each.is_random and len(each.values) == 0:
                raise CommandLineError(f"{each.name} has no values")
        if self.repeats < 1:
            raise CommandLineError("a sweep has at least one repetition")
        if any(each.is_random for each in self.dimensions) != bool(self.samples):
            raise CommandLineError("random values need a number of samples, and samples need random values (LOW~HIGH)")
        if self.size > MOST:
            raise CommandLineError(f"a sweep has at most {MOST:,} points, not {self.size:,}")
        random = np.random.Generator(np.random.PCG64(self.seed_of(b"samples")))
        for each in self.dimensions:
            if each.is_random:
                self._drawn[each.name] = random.uniform(each.values.low, each.values.high, self.samples)

    def seed_of(self, what: bytes) -> int:
        """Return the seed of the random numbers for something."""
        digest = hashlib.sha256(b"kairos sweep %d " % self.seed + what).digest()
        return int.from_bytes(digest[:7], "little")

    @property
    def axes(self) -> dict[str, np.ndarray]:
        """Length and values of the dimensions of the results, by name."""
        found = {each.name: _array(each.values) for each in self.dimensions if not each.is_random}
        if self.samples:
            found[self.sample_axis] = np.arange(self.samples)
        if self.repeats > 1:
            found[self._own("repeat")] = np.arange(self.repeats)
        return found

    @property
    def sample_axis(self) -> str:
        """Name of the axis of the samples."""
        return self._own("sample")

    def _own(self, name: str) -> str:
        """Return the name of an axis that is none of what is scanned."""
        return f"sweep.{name}" if name in {each.name for each in self.dimensions} else name

    @property
    def drawn(self) -> dict[str, np.ndarray]:
        """The values along ``sample``, by name."""
        return dict(self._drawn)

    def draw(self, sample: int, values: dict[str, float]):
        """Set the values of a sample, by name, instead of those that were drawn."""
        for name, value in values.items():
            self._drawn[name][sample] = value

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return tuple(len(values) for values in self.axes.values())

    @property
    def size(self) -> int:
        """Number of points."""
        lengths = [len(each.values) for each in self.dimensions if not each.is_random]
        return prod(lengths) * max(self.samples, 1) * self.repeats

    def point(self, number: int) -> Point:
        """Return the point with this number."""
        values, rest = {}, number // self.repeats
        if self.samples:
            rest, sample = divmod(rest, self.samples)
            values = {name: float(drawn[sample]) for name, drawn in self._drawn.items()}
        for each in reversed(self.dimensions):
            if not each.is_random:
                rest, index = divmod(rest, len(each.values))
                values[each.name] = _plain(each.values[index])
        return Point(number, values, self.seed_of(b"%d" % number))

    def __iter__(self) -> Iterator[Point]:
        return map(self.point, range(self.size))


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value


def _array(values: Sequence) -> np.ndarray:
    try:
        found = np.asarray(values)
    except ValueError:
        found = None  # lists of different lengths
    if found is None or found.ndim != 1 or found.dtype.kind not in "biuf":
        found = np.empty(len(values), object)
        found[:] = [value if isinstance(value, str) else pyon.encode(value) for value in values]
    return found


_GRID = re.compile(r"([^:]+):([^:]+):(\d+)")
_RANDOM = re.compile(r"([^~]+)~([^~]+)")


def dimension(text: str) -> Dimension:
    """Return the dimension that a command line describes: ``NAME=START:STOP:NUMBER``, ``NAME=[1, 2]``,
    ``NAME=LOW~HIGH``; CommandLineError."""
    name, separator, said = text.partition("=")
    if not (name and separator and said):
        raise CommandLineError(f"--scan {text} is not NAME=START:STOP:NUMBER, NAME=[VALUE, ...] or NAME=LOW~HIGH")
    try:
        if found := _GRID.fullmatch(said):
            start, stop, count = quantity(found[1]), quantity(found[2]), int(found[3])
            if count < 1 or not np.isfinite([float(start), float(stop)]).all():
                raise ValueError("no points")
            values = np.linspace(float(start), float(stop), count)
            whole = isinstance(start, int) and isinstance(stop, int) and (values == np.rint(values)).all()
            return Dimension(name, values.astype(np.int64) if whole else values)
        if found := _RANDOM.fullmatch(said):
            low, high = float(quantity(found[1])), float(quantity(found[2]))
            if not np.isfinite([low, high]).all():
                raise ValueError("no interval")
            return Dimension(name, Uniform(low, high))
        values = pyon.decode(said)
        if not isinstance(values, list) or not values:
            raise ValueError("not a list")
        return Dimension(name, values)
    except (ValueError, TypeError, UsageError):
        raise CommandLineError(
            f"--scan {text}: give START:STOP:NUMBER, a list as [1, 2, 3], or LOW~HIGH for random values"
        ) from None
