"""Scans: the sets of points over which an experiment varies a parameter, and the argument that offers them.

A scan object can be iterated any number of times, has a length, and describes itself for a user interface. Kernels
cannot iterate it (it is a host generator): make a list first, ``self.points = [x for x in self.scan]``.
"""

import itertools
import random

from .arguments import DefaultMissing, NoDefault, unit_scale

__all__ = ["ScanObject", "NoScan", "RangeScan", "CenterScan", "ExplicitScan", "Scannable", "MultiScanManager"]


class ScanObject:
    """Base of all scans."""

    def __iter__(self):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError

    def describe(self) -> dict:
        """The scan as a dictionary of plain values with its class name under ``ty``."""
        raise NotImplementedError


class NoScan(ScanObject):
    """One `value`, `repetitions` times."""

    def __init__(self, value, repetitions=1):
        self.value = value
        self.repetitions = repetitions

    def __iter__(self):
        return iter([self.value] * self.repetitions)

    def __len__(self):
        return self.repetitions

    def describe(self):
        return {"ty": "NoScan", "value": self.value, "repetitions": self.repetitions}


class _Sequence(ScanObject):
    """A scan over the list `sequence`."""

    sequence: list

    def __iter__(self):
        return iter(self.sequence)

    def __len__(self):
        return len(self.sequence)

    def _shuffle(self, randomize, seed):
        if randomize:
            random.Random(seed).shuffle(self.sequence)


class RangeScan(_Sequence):
    """`npoints` evenly spaced points from `start` to `stop`, both included; optionally in random order."""

    def __init__(self, start, stop, npoints, randomize=False, seed=None):
        self.start, self.stop, self.npoints = start, stop, npoints
        self.randomize, self.seed = randomize, seed
        if npoints <= 0:
            self.sequence = []
        elif npoints == 1:
            self.sequence = [start]
        else:
            step = (stop - start) / (npoints - 1)
            self.sequence = [i * step + start for i in range(npoints)]
        self._shuffle(randomize, seed)

    def describe(self):
        names = ("start", "stop", "npoints", "randomize", "seed")
        return {"ty": "RangeScan", **{name: getattr(self, name) for name in names}}


class CenterScan(_Sequence):
    """Points around `center`, nearest first: center, center - step, center + step, ... within `span`."""

    def __init__(self, center, span, step, randomize=False, seed=None):
        self.center, self.span, self.step = center, span, step
        self.randomize, self.seed = randomize, seed
        if step == 0.0:
            self.sequence = []
        else:
            n = 1 + int(span / (2.0 * step))
            self.sequence = [center + sign * i * step for i in range(n) for sign in (-1, 1)][1:]
        self._shuffle(randomize, seed)

    def describe(self):
        names = ("center", "span", "step", "randomize", "seed")
        return {"ty": "CenterScan", **{name: getattr(self, name) for name in names}}


class ExplicitScan(_Sequence):
    """The points of `sequence`, as they are."""

    def __init__(self, sequence):
        self.sequence = sequence

    def describe(self):
        return {"ty": "ExplicitScan", "sequence": self.sequence}


_SCANS = {cls.__name__: cls for cls in (NoScan, RangeScan, CenterScan, ExplicitScan)}


class Scannable:
    """Argument whose value is a scan.

    `default` is a scan object or a list of them, of which the first is the initial one. `unit`, `scale`,
    `global_step`, `global_min`, `global_max` and `precision` guide a user interface; values are in SI units.
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
        if scale is None:
            scale = unit_scale(unit)
        if global_step is None:
            global_step = scale / 10.0
        if default is not NoDefault:
            self.default_values = list(default) if isinstance(default, list | tuple) else [default]
        self.unit, self.scale = unit, scale
        self.global_step, self.global_min, self.global_max = global_step, global_min, global_max
        self.precision = precision if ndecimals is None else ndecimals

    def default(self):
        if not hasattr(self, "default_values"):
            raise DefaultMissing
        return self.default_values[0]

    def process(self, x):
        """Scan object of the dictionary `x`, in the form that :meth:`ScanObject.describe` gives."""
        if isinstance(x, ScanObject):
            return x
        fields = dict(x)
        try:
            cls = _SCANS[fields.pop("ty")]
        except KeyError:
            raise ValueError(f"not a scan: {x!r}") from None
        return cls(**fields)

    def describe(self):
        description = {"ty": "Scannable"}
        if hasattr(self, "default_values"):
            description["default"] = [scan.describe() for scan in self.default_values]
        names = ("unit", "scale", "global_step", "global_min", "global_max", "precision")
        description.update({name: getattr(self, name) for name in names})
        return description


class _Point:
    """One point of a multi-dimensional scan; the coordinates are attributes."""

    def __init__(self, **coordinates):
        self.__dict__.update(coordinates)


class MultiScanManager:
    """Cartesian product of named scans, the last one fastest: ``MultiScanManager(("f", fs), ("t", ts))``."""

    def __init__(self, *scans):
        self.names = [name for name, _ in scans]
        self.scans = [scan for _, scan in scans]

    def __iter__(self):
        for values in itertools.product(*self.scans):
            yield _Point(**dict(zip(self.names, values, strict=True)))
