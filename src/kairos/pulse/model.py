"""A bit-exact model of the core: words in, samples and parameters out as NumPy arrays."""

from dataclasses import dataclass

import numpy

from .. import _native
from ..contracts import pulse as facts
from ..contracts.pulse import ERROR_TEXTS, Parameter
from .gateset import Core

__all__ = ["Model", "Played"]


@dataclass(frozen=True)
class Played:
    """Output of channels: `samples[channel, n]` (int16), `values[channel, parameter, cycle]`
    (int64, 40-bit words).

    A cycle of the core's clock has `core.samples_per_cycle` samples. Data not requested are empty
    arrays.
    """

    core: Core
    samples: numpy.ndarray
    values: numpy.ndarray

    def frequency(self, channel: int, tone: int) -> numpy.ndarray:
        """Return the frequency in Hz, per cycle."""
        return self.values[channel, Parameter.F0 + 3 * tone] / 2.0**40 * self.core.sample_rate

    def amplitude(self, channel: int, tone: int) -> numpy.ndarray:
        """Return the amplitude in parts of 200, per cycle."""
        return self.values[channel, Parameter.A0 + 3 * tone] / 2.0**23 / 65535 * 200

    def phase(self, channel: int, tone: int) -> numpy.ndarray:
        """Return the phase in degrees, per cycle, in [-180, 180)."""
        return self.values[channel, Parameter.P0 + 3 * tone] / 2.0**40 * 360

    def frame(self, channel: int, frame: int) -> numpy.ndarray:
        """Return the accumulated rotation in degrees, per cycle, in [-180, 180)."""
        return self.values[channel, Parameter.Z0 + frame] / 2.0**40 * 360


class Model:
    """A core after power-up. `crosstalk`: cycles of its crosstalk compensation, None if built
    without it."""

    def __init__(self, core: Core | None = None, trigger_channels: int | None = None, crosstalk: int | None = None):
        self.core = core or Core()
        channels = (1 << self.core.channels) - 1 if trigger_channels is None else trigger_channels
        self._native = _native.pulse.Model(
            self.core.clock, self.core.samples_per_cycle, self.core.channels, channels, False, crosstalk
        )

    def feed(self, words):
        """Add words: bytes, or an array of bytes with 32 in a row."""
        self._native.feed(words if isinstance(words, bytes) else numpy.asarray(words, dtype=numpy.uint8).tobytes())

    def run_until_idle(self, cycles: int = 1 << 40):
        """Run until the core only waits for a trigger, a result or words, for at most `cycles`."""
        self._native.run_until_idle(cycles)

    def trigger(self):
        """Run a cycle with the trigger."""
        self._native.trigger()

    def result(self, state: int, channels: int = 255):
        """Supply a measurement result, 0 to 15, to the channels of the mask."""
        self._native.result(channels, state)

    def couple(self, channel: int, offset: int, factor: complex, delay: int = 0, zero: int = 0):
        """Add `factor` times the signal of the channel at `offset` (-2, -1, 1, 2), delayed by
        `delay - zero` cycles.

        Parts of the factor are from -1 to below 1, in steps of 2^-17; `zero` is common to all
        couplings. ValueError.
        """
        one = 1 << facts.CROSSTALK_FRACTION
        parts = round(factor.real * one), round(factor.imag * one)
        self._native.couple(channel, offset, parts, delay, zero)

    def run(self, cycles: int, samples: bool = True, values: bool = True) -> Played:
        """Run for some cycles of the core's clock without a trigger; returns `samples` and `values`
        of all parameters, if requested."""
        played, traced = self._native.run(cycles, samples, values)
        rows = numpy.array([numpy.frombuffer(row, dtype=numpy.int16) for row in played], dtype=numpy.int16)
        traces = [[numpy.frombuffer(row, dtype=numpy.int64) for row in channel] for channel in traced]
        return Played(self.core, rows, numpy.array(traces, dtype=numpy.int64))

    def play(self, words, cycles: int) -> Played:
        """Feed words, trigger if all selected engines wait for it, and run from the first cycle of
        a segment."""
        self.feed(words)
        self._native.begin(1 << 20)
        if self.armed:
            self.trigger()
        return self.run(cycles)

    @property
    def armed(self) -> bool:
        """Whether all engines selected for the trigger wait for it."""
        return self._native.armed()

    @property
    def cycle(self) -> int:
        """Cycles since power-up."""
        return self._native.cycle()

    def errors(self) -> list[str]:
        """Return descriptions of the errors."""
        errors, underruns, parameters, saturated = self._native.status()
        texts = [text for bit, text in ERROR_TEXTS.items() if errors & bit]
        dry = [f"channel {c}, parameters {parameters[c]:#04x}" for c in range(8) if underruns >> c & 1]
        full = [f"channel {c}: samples were limited" for c in range(8) if saturated >> c & 1]
        return texts + dry + full
