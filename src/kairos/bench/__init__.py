"""Models of one's own for the virtual bench: a class in a file of the user's, wired up by ``bench.toml``.

A model is told what changes at its inputs, says what changes at its outputs, and when it next acts by itself. Times are
nanoseconds since the device's power-up, and exact: the device waits for the model. It runs in a process of its own.
"""

import random
from typing import NamedTuple

__all__ = ["Light", "Model", "Tone"]


class Tone(NamedTuple):
    """A radio frequency, from the time on at which it comes."""

    hz: float
    dbm: float | None
    """Power; None: it is off."""
    turns: float
    """Phase at that time."""


class Light(NamedTuple):
    """A laser beam, from the time on at which it comes."""

    hz: float
    """Frequency, less that of the laser."""
    power: float
    """As a part of what there is at most."""
    turns: float
    """Phase at that time."""


class Model:
    """A part of the bench. It is made with the ``arguments`` of the bench file as keywords."""

    next: int | None = None
    """When it acts by itself, or None. A time that has passed counts as the next nanosecond."""
    random: random.Random
    """Random numbers, which depend on the seed of the bench file and on the part's name."""

    def input(self, at: int, changes: dict):
        """At `at` these inputs have changed, at once: their values by name. A pin has True or False, a DDS channel a
        `Tone`, a modulator `Light`, a DAC channel or a photodiode volts, an ion photons per second."""

    def act(self, at: int):
        """It is the time that `next` has said."""

    def report(self, at: int) -> dict:
        """Settings and state at `at`, for ``bench.part(NAME)`` of tests: what JSON can hold."""
        return {}

    # What it does

    def send(self, output: str, value: bool | float, delay: int = 0):
        """An output changes `delay` ns from now on: True or False for a pin, volts for others. KeyError if it has no
        output of this name, ValueError for a time that has passed."""
        if delay < 0:
            raise ValueError(f"a delay of {delay} ns has passed")
        number, volts = self._outputs[output]
        self._sent.append((int(delay), number, float(value) if volts else bool(value)))

    def warn(self, text: str):
        """Tell whoever runs the bench of something that the hardware would not bear, or that cannot be meant."""
        self._warned.append(str(text))

    _outputs: dict
    _sent: list
    _warned: list
