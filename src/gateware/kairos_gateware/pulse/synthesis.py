"""From the parameters of a channel to its samples: two tones, their sum, and full scale. Clock
domain sys.

A tone is its amplitude's upper 17 bits times the cosine of its phase, rounded. The sum of both
loses its lowest bit and is clamped to 16 bits.
"""

from migen import *

from ..contracts import pulse as facts
from . import phase, sine
from .phase import Phase, delayed
from .sine import Cosine

__all__ = ["LATENCY", "Output", "Tone", "Sum"]

_AMPLITUDE_BITS = facts.VALUE_BITS - facts.AMPLITUDE_FRACTION
_TONE_LATENCY = phase.LATENCY + sine.LATENCY + 2
_OUTPUT_LATENCY = 1
LATENCY = _TONE_LATENCY + 1 + _OUTPUT_LATENCY
"""Cycles from a channel's parameters to its samples."""


class Tone(Module):
    """A tone with its own `phase` (inputs: see `Phase`). `amplitude` (in, 40 bits): of the same cycle as
    its frequency. `samples`: 18 bits signed; with `quadrature` also its imaginary parts in `imaginary`."""

    def __init__(self, samples_per_cycle, forward, counter, quadrature=False):
        self.submodules.phase = Phase(samples_per_cycle, forward, counter)
        self.amplitude = Signal(facts.VALUE_BITS)

        # # #

        scaled = Signal((_AMPLITUDE_BITS, True))
        self.comb += scaled.eq(self.amplitude[facts.AMPLITUDE_FRACTION :])
        amplitude = delayed(self, scaled, phase.LATENCY + sine.LATENCY)
        quarters = [0, sine.QUADRANT] if quadrature else [0]
        parts = [[self._part(turn, amplitude, quarter) for turn in self.phase.phases] for quarter in quarters]
        self.samples = parts[0]
        self.imaginary = parts[-1] if quadrature else []

    def _part(self, turn, amplitude, quarter):
        cosine = Cosine()
        self.submodules += cosine
        product = Signal((_AMPLITUDE_BITS + facts.SINE_BITS, True))
        part = Signal((facts.SUM_BITS, True))
        half = 1 << facts.TONE_SHIFT - 1
        self.comb += cosine.phase.eq(turn - quarter)
        self.sync += [product.eq(amplitude * cosine.value + half), part.eq(product >> facts.TONE_SHIFT)]
        return part


class Sum(Module):
    """A channel's two tones, driven by a `Channel`. harmonics: of each tone, signed. `samples`:
    their sums, 18 bits signed; `imaginary` likewise, with `quadrature`."""

    def __init__(self, samples_per_cycle, channel, forward, counter, quadrature=False):
        self.harmonics = [Signal((facts.HARMONIC_BITS, True), name=f"harmonic_{t}") for t in range(facts.TONES)]

        # # #

        tones = [Tone(samples_per_cycle, forward, counter, quadrature) for _ in range(facts.TONES)]
        self.submodules += tones
        for t, tone in enumerate(tones):
            frequency, amplitude, shift = channel.values[3 * t : 3 * t + 3]
            self.comb += [
                tone.phase.frequency.eq(frequency),
                tone.amplitude.eq(amplitude),
                tone.phase.phase.eq(shift),
                tone.phase.frame.eq(channel.applied[t]),
                tone.phase.synchronise.eq(channel.synchronise[t]),
                tone.phase.follow.eq(channel.feed_forward[t]),
                tone.phase.harmonic.eq(self.harmonics[t]),
            ]
        self.samples = self._sums([tone.samples for tone in tones])
        self.imaginary = self._sums([tone.imaginary for tone in tones])

    def _sums(self, parts):
        sums = []
        for one, two in zip(*parts, strict=True):
            total = Signal((facts.SUM_BITS, True))
            self.sync += total.eq(one + two)
            sums.append(total)
        return sums


class Output(Module):
    """sums: of a cycle. `samples`: half of each, clamped to 16 bits signed, in the next cycle; `limited`
    (out): one was clamped."""

    def __init__(self, sums):
        self.samples = [Signal((facts.OUTPUT_BITS, True), name=f"sample_{n}") for n in range(len(sums))]
        self.limited = Signal()

        # # #

        beyond = []
        for value, sample in zip(sums, self.samples, strict=True):
            above = value[facts.OUTPUT_BITS :]  # the sign, where it fits
            fits = (above == 0) | (above == 2 ** len(above) - 1)
            limit = Cat(Replicate(~value[-1], facts.OUTPUT_BITS - 1), value[-1])
            self.sync += sample.eq(Mux(fits, value[1 : facts.OUTPUT_BITS + 1], limit))
            beyond.append(~fits)
        self.sync += self.limited.eq(Cat(*beyond) != 0)
