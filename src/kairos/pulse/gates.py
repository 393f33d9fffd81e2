"""Pulses as written by users: the output of a channel during an interval, in Hz, degrees, amplitude units of 1/200
and seconds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy

__all__ = ["Adjustable", "Follow", "Mixed", "Pulse", "Spline", "Steps"]

NAMES = ("freq0", "amp0", "phase0", "freq1", "amp1", "phase1", "framerot0", "framerot1")
"""Fields of a pulse that are parameters of the core, in the core's order."""


class Spline(tuple):
    """Knots of a natural cubic spline, at equal distances from the pulse's start to its end."""


class Steps(tuple):
    """Values, each for an equal share of the pulse."""


class Mixed(tuple):
    """Values, splines and steps one after another, each for an equal share of the pulse."""


@dataclass(frozen=True)
class Adjustable:
    """A parameter that kernels can change by `kairos.coredevice.pulse.Pulse.update`: a constant is
    replaced, any other `shape` is multiplied by a factor. Its segments are not shared with others
    of equal content.
    """

    shape: object


@dataclass(frozen=True)
class Follow:
    """A function of time in seconds since the pulse's start, or samples from its start to its end,
    approximated within `tolerance` (in the parameter's unit) by as few segments as possible. A
    function is sampled at `samples` points.
    """

    course: Callable[[float], float] | Sequence[float]
    tolerance: float
    samples: int = 1001

    def values(self, duration: float) -> list[float]:
        """Return the samples of a pulse of `duration` seconds."""
        if not callable(self.course):
            return numpy.asarray(self.course, dtype=float).ravel().tolist()
        return [float(self.course(t)) for t in numpy.linspace(0.0, duration, self.samples)]


@dataclass(frozen=True, kw_only=True)
class Pulse:
    """The output of `channel` for `duration` seconds (or `cycles` of the core's clock, if given).

    Frequencies are in Hz, amplitudes in parts of 200 (full scale of one tone), phases and rotations
    in degrees. Each is a number, or a :class:`Spline`, :class:`Steps`, :class:`Mixed` or
    :class:`Follow`, or :class:`Adjustable` of these. A tuple is a spline, a list is steps.

    Masks have a bit for each tone: `sync` starts at the global phase, `enable` and `gpo` drive the
    tone's pins, `feed_forward` follows the measured frequency error; or for each frame: `clear`
    resets it first, `at_end` adds the rotation at the end. `forward` and `invert` select for each
    frame the tones to which it is applied, and those for which it is negated.
    """

    channel: int
    duration: float = 0.0
    cycles: int | None = None
    freq0: object = 0.0
    amp0: object = 0.0
    phase0: object = 0.0
    freq1: object = 0.0
    amp1: object = 0.0
    phase1: object = 0.0
    framerot0: object = 0.0
    framerot1: object = 0.0
    wait: bool = False
    sync: int = 0
    enable: int = 0
    feed_forward: int = 0
    gpo: int = 0
    clear: int = 0
    at_end: int = 0
    forward: tuple[int, int] = field(default=(0, 0))
    invert: tuple[int, int] = field(default=(0, 0))

    def length(self, clock: float) -> int:
        """Return its length in cycles of a clock in Hz."""
        cycles = int(self.duration * clock) if self.cycles is None else self.cycles
        if not 0 <= cycles < 1 << 63:
            raise ValueError(f"channel {self.channel}: a pulse of {cycles} cycles")
        return cycles

    def native(self, clock: float) -> dict:
        """Return the pulse in the compiler's format, for a core with this clock in Hz."""
        cycles = self.length(clock)
        values = [getattr(self, name) for name in NAMES]
        own = sum(1 << place for place, value in enumerate(values) if isinstance(value, Adjustable))
        shapes = [_shape(value, cycles / clock) for value in values]
        plain = ("channel", "wait", "sync", "enable", "feed_forward", "gpo", "clear", "at_end", "forward", "invert")
        return {"cycles": cycles, "shapes": shapes, "own": own, **{name: getattr(self, name) for name in plain}}


def _shape(value, duration: float) -> tuple:
    if isinstance(value, Adjustable):
        return _shape(value.shape, duration)
    if isinstance(value, Follow):
        return "samples", value.values(duration), float(value.tolerance)
    if isinstance(value, Mixed) or (isinstance(value, list) and any(isinstance(item, tuple | list) for item in value)):
        return "mixed", [_shape(item, duration / max(len(value), 1)) for item in value]
    if isinstance(value, Steps | list):
        return "steps", [float(item) for item in value]
    if isinstance(value, tuple):
        return "spline", [float(item) for item in value]
    return "constant", float(value)
