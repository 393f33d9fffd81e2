"""User-defined models for the virtual bench: a class in a user file, connected by ``bench.toml``.

A model receives the changes of its inputs, sends the changes of its outputs, and states when it
next acts on its own. Times are nanoseconds since the device's power-up, and exact: the device waits
for the model, which runs in a separate process.
"""

import math
import random
from typing import NamedTuple, SupportsFloat

__all__ = ["Light", "Model", "Tone"]


class Tone(NamedTuple):
    """A radio-frequency tone, starting at the time at which it is sent."""

    hz: float
    dbm: float | None
    """Power; None: it is off."""
    turns: float
    """Phase at that time."""

    def after(self, ns: int) -> "Tone":
        """Return the tone `ns` nanoseconds later, with its phase advanced."""
        return self._replace(turns=(self.turns + _turns(self.hz, ns)) % 1)


class Light(NamedTuple):
    """A laser beam, starting at the time at which it is sent."""

    hz: float
    """Frequency offset from the laser."""
    power: float
    """Fraction of the maximum power."""
    turns: float
    """Phase at that time."""

    def after(self, ns: int) -> "Light":
        """Return the light `ns` nanoseconds later, with its phase advanced."""
        return self._replace(turns=(self.turns + _turns(self.hz, ns)) % 1)


def _turns(hz: float, ns: int) -> float:
    # Whole Hz are treated separately, so that the result stays exact for hours.
    whole = int(hz)
    return whole * ns % 10**9 / 1e9 + (hz - whole) * ns * 1e-9


LATEST = 1 << 62
"""Maximum time in nanoseconds: after 146 years."""


class Model:
    """A part of the bench, constructed with the ``arguments`` of the bench file as keywords."""

    next: int | None = None
    """Time of its next action on its own, or None. A time in the past counts as the next
    nanosecond."""
    random: random.Random
    """Random number generator, seeded from the bench file's seed and the part's name."""

    def input(self, at: int, changes: dict):
        """Called when inputs have changed simultaneously at time `at`: their values by name. A pin has True or
        False, a DDS channel a `Tone`, a modulator `Light`, a DAC channel or a photodiode volts, an
        ion photons per second."""

    def act(self, at: int):
        """Called at the time returned by `next`."""

    def report(self, at: int) -> dict:
        """Settings and state at `at`, for ``bench.part(NAME)`` of tests: values that JSON can represent."""
        return {}

    # Actions

    def send(self, output: str, value: "bool | float | Tone | Light", delay: int = 0):
        """Change an output `delay` ns from now: True or False for a pin, a number for volts and for
        photons per second, a `Tone` or `Light`, whose phase is that at its arrival. KeyError if
        there is no output of this name, ValueError for a negative delay or an impossible value,
        TypeError for another kind of value.
        """
        if not 0 <= delay <= LATEST:
            raise ValueError(f"a delay of {delay} ns is not possible: delays must not be negative")
        if output not in self._outputs:
            raise KeyError(f"the model has no output {output}; it has {', '.join(self._outputs) or 'none'}")
        number, kind = self._outputs[output]
        self._sent.append((int(delay), number, _checked(output, kind, value)))

    def warn(self, text: str):
        """Warn the user of an input that real hardware would not tolerate or that is probably a mistake."""
        # As any other part: a line of text
        line = ", ".join(str(text).splitlines()).encode("utf-8", "backslashreplace").decode()
        self._warned.append("".join(one if one.isprintable() else repr(one)[1:-1] for one in line))

    _outputs: dict
    _sent: list
    _warned: list


def _checked(output: str, kind: str, value):
    """Check and convert a value for an output of this kind. TypeError, ValueError."""
    if kind == "pin":
        # Also accepts NumPy's booleans, 0 and 1
        if not isinstance(value, SupportsFloat) or value not in (0, 1):
            raise TypeError(f"{output} takes True or False, not {value!r}")
        return bool(value)
    wanted = {"tone": Tone, "light": Light}.get(kind)
    if wanted is None:
        if not isinstance(value, SupportsFloat):
            raise TypeError(f"{output} takes {kind}, a number, not {value!r}")
        value = float(value)
        if not math.isfinite(value) or kind == "photons" and value < 0:
            raise ValueError(f"{output} cannot have {value:g} {kind}")
        return value
    if not isinstance(value, wanted):
        raise TypeError(f"{output} takes a {wanted.__name__}, not {value!r}")
    numbers = [None if number is None and wanted is Tone else float(number) for number in value]
    if not all(number is None or math.isfinite(number) for number in numbers):
        raise ValueError(f"{output} cannot have {value}: numbers must be finite")
    if wanted is Light and not 0 <= value.power <= 1:
        raise ValueError(f"{output} cannot have {value}: power is a fraction of the maximum, 0 to 1")
    return [*numbers[:2], numbers[2] % 1]
