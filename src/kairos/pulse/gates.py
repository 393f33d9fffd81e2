"""Pulses as written by users: the output of a channel during an interval, in Hz, degrees, amplitude units of 1/200
and seconds.

What cannot be meant is refused with the channel and the parameter; the gate set adds the gate.
"""

import difflib
import functools
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields

import numpy

from .. import _native
from ..contracts import pulse as facts

__all__ = ["Adjustable", "Follow", "Mixed", "Pulse", "PulseError", "Room", "Spline", "Steps"]

PulseError = _native.pulse.PulseError
"""A gate or sequence cannot be compiled: the text names gate, channel and parameter."""

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
        """Return the samples of a pulse of `duration` seconds. PulseError if there are none."""
        if callable(self.course):
            if not isinstance(self.samples, int) or self.samples < 2:
                raise PulseError(f"{self.samples!r} samples; a function to follow is sampled at 2 points or more")
            return [_number(self._at(t)) for t in numpy.linspace(0.0, duration, self.samples)]
        try:
            values = numpy.asarray(self.course, dtype=float).ravel().tolist()
        except (TypeError, ValueError):
            values = []
        if len(values) < 2:
            raise PulseError("a course to follow is a function of time, or two or more samples that are numbers")
        return values

    def _at(self, t: float):
        """Return the value at a time in seconds."""
        try:
            return self.course(t)
        except Exception as error:
            raise PulseError(f"the function to follow fails at {t:g} s: {type(error).__name__}: {error}") from error


@dataclass(frozen=True, kw_only=True)
class Room:
    """A gate without content, on `channels`, for `duration` seconds, or instead `cycles` of the core's clock:
    kernels make it by `kairos.coredevice.pulse.Pulse.make`, of up to `segments` different segments. Until then, and
    after each `load`, it is a pause.
    """

    channels: Sequence[int]
    duration: float = 0.0
    cycles: int | None = None
    segments: int = 16

    def pulses(self) -> list["Pulse"]:
        """Return pauses with as many segments that are not shared, each of which a kernel can replace. PulseError if
        there cannot be so many."""
        most = len(NAMES) * facts.KERNEL_PULSE_SEGMENTS
        if not isinstance(self.segments, int) or not 1 <= self.segments <= most:
            raise PulseError(f"room for {self.segments!r} segments: a gate made by a kernel has 1 to {most}")
        if isinstance(self.channels, str) or not isinstance(self.channels, Sequence) or not self.channels:
            raise PulseError(f"room on channels {self.channels!r}: they are a list, as in Room(channels=[0, 1], …)")
        each, more = divmod(self.segments, len(NAMES))
        counts = [each + (place < more) for place in range(len(NAMES))]
        zeros = {name: Adjustable(Steps([0.0] * count)) for name, count in zip(NAMES, counts, strict=True) if count}
        return [
            Pulse(channel=channel, duration=self.duration, cycles=self.cycles, **zeros) for channel in self.channels
        ]


@dataclass(frozen=True, kw_only=True)
class Pulse:
    """The output of `channel` for `duration` seconds, or instead `cycles` of the core's clock.

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
        if self.cycles is not None:
            cycles = self._whole("cycles", 1 << 63, "a whole number of cycles, 0 or more")
            if self.duration:
                both = f"{self.duration!r} s and {cycles} cycles; a pulse has one of them"
                raise PulseError(f"channel {self.channel}, duration: {both}")
        else:
            seconds = self._of("duration", lambda: _number(self.duration, "durations are in seconds"))
            if not 0 <= seconds < math.inf:
                raise PulseError(f"channel {self.channel}, duration: {seconds:g} s is no length of time")
            cycles = int(seconds * clock)
        if cycles >> facts.TAU_MAX_BITS:
            bound = f"below 2^{facts.TAU_MAX_BITS}"
            raise PulseError(f"channel {self.channel}, duration: {cycles} cycles are too many: {bound}")
        return cycles

    def native(self, clock: float) -> dict:
        """Return the pulse in the compiler's format, for a core with this clock in Hz."""
        channel = self._whole("channel", 1 << 8, "a channel")
        cycles = self.length(clock)
        values = [getattr(self, name) for name in NAMES]
        own = sum(1 << place for place, value in enumerate(values) if isinstance(value, Adjustable))
        shapes = [
            self._of(name, lambda value=value: _shape(value, cycles / clock))
            for name, value in zip(NAMES, values, strict=True)
        ]
        masks = {name: self._whole(name, 4, f"a mask of two {of}: {MASKS}") for name, of in FLAGS.items()}
        routes = {name: self._route(name) for name in ("forward", "invert")}
        wait = bool(self._whole("wait", 2, "true or false"))
        return {"channel": channel, "cycles": cycles, "shapes": shapes, "own": own, "wait": wait, **masks, **routes}

    def _of(self, name: str, convert):
        """Return `convert()`, whose PulseError will name the channel and the parameter `name`."""
        try:
            return convert()
        except PulseError as error:
            raise PulseError(f"channel {self.channel}, {name}: {error}") from None

    def _whole(self, name: str, end: int, what: str, value=None) -> int:
        """Return the field `name`, or `value`, if it is an integer below `end`; `what` describes it."""
        given = getattr(self, name) if value is None else value
        try:
            if 0 <= (number := operator.index(given)) < end:
                return number
        except TypeError:
            pass
        place = "" if name == "channel" else f"channel {self.channel}, "
        raise PulseError(f"{place}{name}: {given!r} is not {what}")

    def _route(self, name: str) -> tuple[int, int]:
        """Return the tones of each frame."""
        given = getattr(self, name)
        what = f"two masks of tones, for frame 0 and frame 1, such as (1, 0): {MASKS}"
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise PulseError(f"channel {self.channel}, {name}: {given!r} is not {what}")
        return tuple(self._whole(name, 4, what, mask) for mask in given)


def nearest(name: str, known: list[str]) -> str:
    """Return what was probably meant by `name`, or what there is, as the end of a message."""
    alike = [difflib.SequenceMatcher(None, name, other).ratio() for other in known]
    near = known[alike.index(max(alike))]
    return f"did you mean {near}?" if max(alike) > 0.6 else f"it has {', '.join(known)}"


def _named_only(make):
    """Return the constructor `make` of pulses, with one line for arguments that it does not have."""
    known = [entry.name for entry in fields(Pulse)]

    @functools.wraps(make)
    def checked(self, *values, **named):
        channel = f"channel {named['channel']}, " if "channel" in named else ""
        for name in named:
            if name not in known:
                raise PulseError(f"{channel}{name}: a pulse has no such parameter; {nearest(name, known)}")
        if values or not channel:
            raise PulseError("a pulse is given by names, with its channel: Pulse(channel=0, duration=1e-6, amp0=50)")
        make(self, **named)

    return checked


Pulse.__init__ = _named_only(Pulse.__init__)


FLAGS = {
    **dict.fromkeys(("sync", "enable", "feed_forward", "gpo"), "tones"),
    **dict.fromkeys(("clear", "at_end"), "frames"),
}
"""Fields of a pulse that are masks, and of what."""
MASKS = "0 for none, 1 for the first, 2 for the second, 3 for both"


COURSES = "courses are tuples (knots), lists (steps), Spline, Steps, Mixed or Follow"


def _number(value, instead: str = COURSES) -> float:
    """Return the value as a number; PulseError, which says what there is `instead`, if it is none. Text is none, even
    that of a number."""
    if not isinstance(value, str | bytes | Sequence | complex | numpy.complexfloating) and not getattr(
        value, "ndim", 0
    ):
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            pass
    shown = f"an array of {value.shape}" if isinstance(value, numpy.ndarray) else f"{value!r:.60}"
    raise PulseError(f"{shown} is no number; {instead}")


def _shape(value, duration: float) -> tuple:
    if isinstance(value, Adjustable):
        return _shape(value.shape, duration)
    if isinstance(value, Follow):
        return "samples", value.values(duration), _number(value.tolerance)
    if isinstance(value, Mixed) or (isinstance(value, list) and any(isinstance(item, tuple | list) for item in value)):
        return "mixed", [_shape(item, duration / max(len(value), 1)) for item in value]
    if isinstance(value, Steps | list):
        return "steps", [_number(item) for item in value]
    if isinstance(value, tuple):
        return "spline", [_number(item) for item in value]
    return "constant", _number(value)
