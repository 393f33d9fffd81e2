"""Pulse definitions written for JaqalPaw: the names that they import, and an import hook that provides them.

A definition is a class whose methods ``gate_NAME`` take qubits and numbers and return lists of
``PulseData``. After :func:`install`, ``from jaqalpaw.ir.pulse_data import PulseData`` resolves to
this module; nothing is done if JaqalPaw itself is installed. The behaviour of these names was
determined by running JaqalPaw 1.3.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types

from ..contracts import pulse as facts
from ..errors import UsageError
from .gates import MASKS, NAMES, Mixed, Pulse, PulseError, Spline, Steps, nearest

__all__ = ["Choice", "ClockCycles", "Loop", "Parallel", "PulseData", "Sequential", "install"]

FLAGS = {
    "waittrig": "wait",
    "sync_mask": "sync",
    "enable_mask": "enable",
    "fb_enable_mask": "feed_forward",
    "gpo_mask": "gpo",
    "rst_frame_mask": "clear",
    "apply_at_end_mask": "at_end",
}
"""Flags by their names in such definitions."""
ROUTES = {
    "forward": ("fwd_frame0_mask", "fwd_frame1_mask"),
    "invert": ("inv_frame0_mask", "inv_frame1_mask"),
}
KNOWN_MASKS = (*FLAGS, *(mask for pair in ROUTES.values() for mask in pair))
POSITIONS = (
    "freq0 phase0 amp0 freq1 phase1 amp1 waittrig sync_mask enable_mask fb_enable_mask framerot0 framerot1 "
    "apply_at_end_mask rst_frame_mask fwd_frame0_mask fwd_frame1_mask inv_frame0_mask inv_frame1_mask"
).split()
"""Arguments after channel and duration, when given by position."""


class ClockCycles(int):
    """A number of clock cycles of the core, in places where seconds are the default."""


class Parallel(list):
    """Gates of a macro that begin together."""


class Sequential(list):
    """Gates of a macro one after another."""


class Loop(list):
    """Gates of a macro one after another, `repeats` times."""

    def __init__(self, *gates, repeats=1, **more):
        super().__init__(*gates, **more)
        self.repeats = repeats


class Case(list):
    """Gates that are played for the measurement result `state`."""

    def __init__(self, *gates, state=0, **more):
        super().__init__(*gates, **more)
        self.state = state


class Choice(Loop):
    """Cases of a macro, one of which a measurement result selects; definitions know it as Branch."""


class PulseException(UsageError):
    """Definitions may raise it: a pulse is not possible."""


class CollisionException(UsageError):
    """Likewise: a channel is used twice."""


class CircuitCompilerException(UsageError):
    """Likewise: a circuit is not possible."""


REFUSALS = (PulseException, CollisionException, CircuitCompilerException)
"""What definitions raise to refuse something."""


def _value(value):
    """Convert a parameter for :class:`Pulse`; a course of one value is constant."""
    if isinstance(value, list | tuple) and len(value) == 1:
        return _value(value[0])
    return 0.0 if value is None else value


def PulseData(channel: int, dur: float, *values, **parameters) -> Pulse:
    """Build the pulse of a channel for `dur` seconds, or :class:`ClockCycles`: parameters as those
    of :class:`Pulse`, tuples for splines and lists for steps, and flags by the names of
    :data:`FLAGS`. PulseError names the channel and a parameter that does not exist, or a flag that is none.
    """
    if len(values) > len(POSITIONS):
        raise PulseError(f"channel {channel}: PulseData has {len(values) - len(POSITIONS)} values too many")
    positional = dict(zip(POSITIONS, values, strict=False))
    for name in positional.keys() & parameters:
        raise PulseError(f"channel {channel}, {name}: it is given twice, by its position and by its name")
    parameters = positional | parameters
    masks = {name: _mask(channel, name, parameters.pop(name)) for name in KNOWN_MASKS if name in parameters}
    routes = {name: tuple(masks.pop(mask, 0) for mask in pair) for name, pair in ROUTES.items()}
    flags = {ours: masks[theirs] for theirs, ours in FLAGS.items() if theirs in masks}
    for name in parameters.keys() - set(NAMES):
        hint = nearest(name, [*NAMES, *KNOWN_MASKS, "channel", "dur"])
        raise PulseError(f"channel {channel}, {name}: PulseData has no such parameter; {hint}")
    length = {"cycles": int(dur)} if isinstance(dur, ClockCycles) else {"duration": dur}
    courses = {name: _value(value) for name, value in parameters.items()}
    return Pulse(channel=channel, **length, **courses, **{**flags, "wait": bool(flags.get("wait"))}, **routes)


def _mask(channel, name: str, value) -> int:
    """Return a flag or mask, which may be a whole number of any type. PulseError if it is none."""
    try:
        if (number := int(value)) == value and 0 <= number < (2 if name == "waittrig" else 4):
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    form = "true or false" if name == "waittrig" else f"a mask of two: {MASKS}"
    raise PulseError(f"channel {channel}, {name}: {value!r} is not {form}")


_CLOCK = facts.CLOCK_HZ
_RATE = float(facts.CLOCK_HZ * facts.SAMPLES_PER_CYCLE)
_TURN = 1 << facts.VALUE_BITS


def to_clock_cycles(dur, clkfreq=_CLOCK) -> ClockCycles:
    """Convert seconds to whole cycles; cycles are unchanged."""
    return dur if isinstance(dur, ClockCycles) else ClockCycles(dur * clkfreq)


def to_real_time(dur, clkfreq=_CLOCK) -> float:
    """Convert cycles to seconds; seconds are unchanged."""
    return dur / clkfreq if isinstance(dur, ClockCycles) else dur


def discretize_frequency(v: float) -> float:
    """Round a frequency in Hz to the core's resolution."""
    return round(v / _RATE * _TURN) / _TURN * _RATE


def discretize_phase(v: float) -> float:
    """Round an angle in degrees to the core's resolution."""
    return round(v / 360 * _TURN) / _TURN * 360


def discretize_amplitude(v: float) -> float:
    """Truncate an amplitude to the core's resolution."""
    return int(v / facts.AMPLITUDE_UNITS * facts.AMPLITUDE_MAX) / facts.AMPLITUDE_MAX * facts.AMPLITUDE_UNITS


def discretize_time(v: float) -> float:
    """Truncate a duration in seconds to the core's resolution."""
    return to_clock_cycles(v) / _CLOCK


_COURSES = {"ClockCycles": ClockCycles, "Discrete": Steps, "Mixed": Mixed, "Spline": Spline}
_TIMES = {"to_clock_cycles": to_clock_cycles, "to_real_time": to_real_time}
_STEPS = [discretize_frequency, discretize_phase, discretize_amplitude, discretize_time]
_BLOCKS = {"Branch": Choice, "Case": Case, "Loop": Loop, "Parallel": Parallel, "Sequential": Sequential}
MODULES = {
    "jaqalpaw": {},
    "jaqalpaw.ir": {},
    "jaqalpaw.ir.pulse_data": {"PulseData": PulseData},
    "jaqalpaw.utilities": {},
    "jaqalpaw.utilities.datatypes": _COURSES | _TIMES | _BLOCKS,
    "jaqalpaw.utilities.exceptions": {kind.__name__: kind for kind in REFUSALS},
    "jaqalpaw.utilities.helper_functions": {
        "CLKFREQ": _CLOCK,
        **_COURSES,
        **_TIMES,
        **{step.__name__: step for step in _STEPS},
    },
    "jaqalpaw.utilities.parameters": {
        "CLKFREQ": _CLOCK,
        "CLKPERIOD": 1 / _CLOCK,
        "CLOCK_FREQUENCY": _RATE,
        "MAXAMP": float(facts.AMPLITUDE_UNITS),
        "MAXFREQ": 500.0,
    },
}
"""Modules that definitions import, with their names."""


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules that definitions import."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname in MODULES:
            inner = any(name.startswith(f"{fullname}.") for name in MODULES)
            return importlib.machinery.ModuleSpec(fullname, self, is_package=inner)
        if fullname.startswith("jaqalpaw."):
            raise ModuleNotFoundError(
                f"Kairos has no counterpart of {fullname}; it has {', '.join(MODULES)}", name=fullname
            )
        return None

    def create_module(self, spec):
        return types.ModuleType(spec.name, "Names of JaqalPaw that Kairos has.")

    def exec_module(self, module):
        vars(module).update(MODULES[module.__name__])


def install():
    """Make imports of ``jaqalpaw`` resolve to Kairos' versions, unless it is installed."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path) and not importlib.util.find_spec("jaqalpaw"):
        sys.meta_path.append(Finder())
