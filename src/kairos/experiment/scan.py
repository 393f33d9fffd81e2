"""Scans: sets of points over which an experiment varies a parameter, and the argument type to select them.

A scan is defined by its parameters: a subclass of `ScanObject` passes them to :meth:`ScanObject._has` and computes
the points in their natural order; repeated iteration, length, random order and the description for
a user interface are common to all. Kernels cannot iterate a scan (it is a host generator): make a
list first, ``self.points = [x for x in self.scan]``.
"""

import itertools
import re
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from .arguments import NoDefault, Processor, beyond, display_of, quantity

__all__ = [
    "CenterScan",
    "ExplicitScan",
    "MultiScanManager",
    "NoScan",
    "RangeScan",
    "ScanObject",
    "Scannable",
    "count_of",
]


class ScanObject:
    """Base of all scans. A subclass has :meth:`points`; it may also be a dataclass of its parameters."""

    def _has(self, **parameters):
        """Keep the parameters as attributes, and find the points."""
        vars(self).update(parameters, _parameters=tuple(parameters))
        self.__post_init__()

    def __post_init__(self):
        self.sequence = self.points()
        if getattr(self, "randomize", False):
            import random  # imported late: few scans are shuffled

            random.Random(self.seed).shuffle(self.sequence)

    def points(self) -> list:
        """The points that the parameters give, in their natural order."""
        raise NotImplementedError(f"{type(self).__name__} does not define its points")

    def __iter__(self):
        return iter(self.sequence)

    def __len__(self):
        return len(self.sequence)

    def describe(self) -> dict:
        """Return the scan as a dictionary of plain values: its class name as ``ty``, and its
        parameters."""
        return {"ty": type(self).__name__} | self._settings()

    def _settings(self) -> dict:
        names = getattr(self, "_parameters", None) or getattr(self, "__dataclass_fields__", ())
        return {name: getattr(self, name) for name in names}

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._settings().items())})"


class NoScan(ScanObject):
    """One `value`, `repetitions` times."""

    def __init__(self, value: Any, repetitions: int = 1):
        self._has(value=value, repetitions=repetitions)

    def points(self):
        return [self.value] * self.repetitions


class RangeScan(ScanObject):
    """`npoints` evenly spaced points from `start` to `stop`, both included; optionally in random order."""

    def __init__(self, start: float, stop: float, npoints: int, randomize: bool = False, seed: Any = None):
        self._has(start=start, stop=stop, npoints=npoints, randomize=randomize, seed=seed)

    def points(self):
        if self.npoints == 1:
            return [self.start]
        intervals = self.npoints - 1
        return [n * ((self.stop - self.start) / intervals) + self.start for n in range(self.npoints)]


class CenterScan(ScanObject):
    """Points around `center`, nearest first: center, center - step, center + step, ... within `span`."""

    def __init__(self, center: float, span: float, step: float, randomize: bool = False, seed: Any = None):
        self._has(center=center, span=span, step=step, randomize=randomize, seed=seed)

    def points(self):
        if not self.step:
            return []
        pairs = int(self.span / (2.0 * self.step))
        return [self.center + n * self.step for n in sorted(range(-pairs, pairs + 1), key=abs)]


class ExplicitScan(ScanObject):
    """The points of `sequence`, unchanged."""

    def __init__(self, sequence: Iterable):
        self._has(sequence=sequence)

    def points(self):
        return self.sequence


def count_of(described) -> int | None:
    """Return the number of points of a scan in the format of :meth:`ScanObject.describe`, without making them; None
    for what is none."""
    try:
        match described:
            case {"ty": "NoScan"}:
                return int(described.get("repetitions", 1))
            case {"ty": "RangeScan"}:
                return int(described["npoints"])
            case {"ty": "CenterScan"}:
                step = described["step"]
                return 1 + 2 * int(described["span"] / (2.0 * step)) if step else 0
            case {"ty": "ExplicitScan"}:
                return len(described["sequence"])
    except (LookupError, TypeError, ValueError, OverflowError):
        pass
    return None


def _ends(described: dict) -> list:
    """Return points of a scan in the format of :meth:`ScanObject.describe`, with the least and the greatest
    among them; none for what is no scan."""
    match described:
        case {"ty": "NoScan", "value": int() | float() as value}:
            return [value]
        case {"ty": "RangeScan", "start": int() | float() as start, "stop": int() | float() as stop}:
            return [start, stop]
        case {"ty": "CenterScan", "center": center, "span": span, "step": step} if step:
            reach = abs(step) * int(abs(span / (2.0 * step)))
            return [center - reach, center + reach]
        case {"ty": "ExplicitScan", "sequence": [*points]}:
            return [point for point in points if isinstance(point, int | float)]
    return []


_KINDS = {kind.__name__: kind for kind in (NoScan, RangeScan, CenterScan, ExplicitScan)}


class Scannable(Processor):
    """Argument whose value is a scan.

    `default` is a scan object or a list of them, of which the first is the initial one. `unit`,
    `scale`, `global_step` and `precision` are hints for a user interface; `global_min` and `global_max`
    are limits of the points that a person types. Values are in SI units.
    """

    def __init__(
        self,
        default=NoDefault,
        unit="",
        *,
        scale=None,
        global_step=None,
        global_min=None,
        global_max=None,
        precision=2,
        ndecimals=None,
    ):
        display = display_of(unit, scale, global_step, precision, ndecimals)
        display["global_step"] = display.pop("step")
        super().__init__(default, unit=unit, **display, global_min=global_min, global_max=global_max)

    def typed(self, text):
        """Parse a scan, see :meth:`_parsed`; ValueError if it is invalid, or has points beyond the limits."""
        described = self._parsed(text)
        for point in _ends(described):
            if problem := beyond(point, self.global_min, self.global_max, self.scale, self.unit):
                raise ValueError(f"{point / self.scale:.12g}{f' {self.unit}' if self.unit else ''} is {problem}")
        return described

    def _parsed(self, text):
        """Parse the short forms: ``A:B:N`` for `N` points from `A` to `B`, ``A:B:N:random`` in
        random order, ``[A, B, C]`` for these points, ``A`` for one; numbers may have units."""
        listed = re.fullmatch(r"\s*\[(.*)\]\s*", text, re.DOTALL)
        if listed:
            points = [quantity(point, self.unit) for point in listed[1].split(",")] if listed[1].strip() else []
            if not all(type(point) in (int, float) for point in points):
                raise ValueError(f"it is not a scan: {self.hint()}")
            return ExplicitScan(points).describe()
        parts = text.split(":") if text.lstrip()[:1] != "{" else []
        if len(parts) in (3, 4) and parts[3:] in ([], ["random"]):
            start, stop = (float(quantity(part, self.unit)) for part in parts[:2])
            if not parts[2].strip().isdecimal():
                raise ValueError(f"'{parts[2]}' is not a number of points")
            return RangeScan(start, stop, int(parts[2]), randomize=len(parts) == 4).describe()
        value = quantity(text, self.unit) if len(parts) == 1 else super().typed(text) if not parts else None
        if isinstance(value, int | float):
            return NoScan(value).describe()
        if isinstance(value, dict):
            return value
        raise ValueError(f"it is not a scan: {self.hint()}")

    def hint(self):
        return "A:B:N, A:B:N:random, [A, B, C] or A"

    def converted(self, x):
        """Build the scan object from the dictionary `x`, in the format of
        :meth:`ScanObject.describe`."""
        if isinstance(x, ScanObject):
            return x
        parameters = dict(x)
        kind = _KINDS.get(parameters.pop("ty", None))
        if kind is None:
            raise ValueError(f"not a scan: {x!r}")
        return kind(**parameters)

    def _read_default(self, default):
        return tuple(default) if isinstance(default, list | tuple) else (default,)

    def _shown_default(self):
        return [scan.describe() for scan in self._defaults]


class Point(SimpleNamespace):
    """A point of several simultaneous scans; its coordinates are attributes."""


class MultiScanManager:
    """Cartesian product of named scans, the last one varying fastest: ``MultiScanManager(("f", fs),
    ("t", ts))``.

    Iteration yields one `Point` per combination.
    """

    def __init__(self, *scans):
        self.names, self.scans = zip(*scans, strict=True) if scans else ((), ())

    def __iter__(self):
        for values in itertools.product(*self.scans):
            yield Point(**dict(zip(self.names, values, strict=True)))
