"""What the DAC of a Songbird gets: 20 samples in a cycle (2.5 GS/s), from the channels of `songbird.py`. Clock
domain sys.

Of each tone, with amplitude b, accumulated phase p, frequency f and offset o (in turns), sample s of a cycle is

    b cos(2 pi (p + s f + o))        and        p' = p + 20 f

and the sum of all tones is limited to 16 bits. While a tone is cleared, p and s f are 0. n cycles after the
trigger of the amplitude, its sums advance (as in `differences.py`) if n is a multiple of 2^(shift + 1); the frequency
advances by the chirp likewise. Cosines are those of `pulse/sine.py`, so a tone is within a few steps of the 16 bits.

The DAC takes samples at two ports, each with ten in a cycle: `ports[0]` has the even ones, `ports[1]` the odd ones,
the first in time first.

Timing: the first sample of the waveform's first cycle, a trigger's time, is in `samples` LATENCY cycles later. This is
not part of simulated devices, so it has no skip of time.

A sample of each tone needs about a BRAM18 and two DSP48E1: 80 and 160 for a card with four tones.
"""

from migen import *

from ..contracts import songbird as facts
from ..contracts.shuttler import FRACTION_BITS
from ..pulse import sine

__all__ = ["LATENCY", "Samples"]

LATENCY = sine.LATENCY + 5
"""Cycles from a trigger's time to its first sample."""
_PERIOD_BITS = facts.SHIFT_MAX + 1
_COSINE_FRACTION = sine.facts.SINE_BITS - 1


class Samples(Module):
    """songbird: `Songbird`. `samples` (out, 16 bits, signed): of a cycle. `ports` (out): those of each port."""

    def __init__(self, songbird):
        self.samples = [Signal((facts.LEVEL_BITS, True), name=f"sample_{n}") for n in range(facts.SAMPLES)]
        self.ports = [self.samples[::2], self.samples[1::2]]
        self.tones = [_Tone(tone) for tone in songbird.tones]
        self.submodules += self.tones

        # # #

        most = (1 << facts.LEVEL_BITS - 1) - 1
        for n, sample in enumerate(self.samples):
            parts = [tone.products[n] for tone in self.tones]
            total = Signal((len(parts[0]) + (len(parts) - 1).bit_length(), True), name=f"total_{n}")
            whole = Signal((len(total) - _COSINE_FRACTION, True), name=f"whole_{n}")
            self.comb += whole.eq(total >> _COSINE_FRACTION)
            self.sync += [
                total.eq(sum(parts) + (1 << _COSINE_FRACTION - 1)),
                sample.eq(Mux(whole > most, most, Mux(whole < -most - 1, -most - 1, whole))),
            ]


def _multiple(number, value):
    """Expression: number times value, from adders: multipliers are for the amplitudes."""
    return sum((value << bit for bit in range(number.bit_length()) if number >> bit & 1), C(0))


class _Advance(Module):
    """trigger: pulse. shift: of the period. `due` (out): in this cycle, counted from the trigger's time, a multiple
    of the period is reached."""

    def __init__(self, trigger, shift):
        self.due = Signal()

        # # #

        passed, mask = Signal(_PERIOD_BITS), Signal(_PERIOD_BITS)
        self.comb += [
            Case(shift, {n: mask.eq((2 << n) - 1) for n in range(1 << len(shift))}),
            self.due.eq((passed & mask) == 0),
        ]
        self.sync += If(trigger, passed.eq(0)).Else(passed.eq(passed + 1))


class _Tone(Module):
    """tone: `songbird.Tone`. `amplitude` (out, 48 bits), `phase` (out, 32 bits): as accumulated. `products` (out):
    amplitude times cosine of each sample, so many bits of fraction as a cosine has."""

    def __init__(self, tone):
        self.amplitude = Signal(facts.LEVEL_BITS + FRACTION_BITS)
        self.phase = Signal(facts.FTW_BITS)
        self.products = [
            Signal((facts.LEVEL_BITS + sine.facts.SINE_BITS, True), name=f"product_{n}") for n in range(facts.SAMPLES)
        ]

        # # #

        shift = Signal(len(tone.shift))
        self.sync += If(tone.reset, shift.eq(0)).Elif(tone.triggers[1], shift.eq(tone.shift))
        advances = [_Advance(trigger, shift) for trigger in tone.triggers]
        self.submodules += advances
        sums = [self.amplitude, *[Signal.like(self.amplitude, name=f"sum_{n}") for n in range(1, 4)]]
        frequency, chirp, offset = Signal(facts.FTW_BITS), Signal(facts.FTW_BITS), Signal(facts.PHASE_BITS)
        self.sync += [
            If(advances[0].due, [value.eq(value + more) for value, more in zip(sums, sums[1:], strict=False)]),
            If(tone.triggers[0], [value.eq(first) for value, first in zip(sums, tone.amplitude, strict=True)]),
            self.phase.eq(self.phase + _multiple(facts.SAMPLES, frequency)),
            If(advances[1].due, frequency.eq(frequency + chirp)),
            If(tone.triggers[1], frequency.eq(tone.frequency), chirp.eq(tone.chirp), offset.eq(tone.offset)),
            If(tone.clear, self.phase.eq(0)),
            If(
                tone.reset,
                [value.eq(0) for value in [*sums, frequency, chirp, offset, self.phase]],
            ),
        ]
        begin = Signal(facts.FTW_BITS)
        level = self._later(self.amplitude[FRACTION_BITS:], sine.LATENCY + 2)
        below = facts.FTW_BITS - sine.facts.SINE_PHASE_BITS
        self.sync += begin.eq(Mux(tone.clear, 0, self.phase) + (offset << facts.FTW_BITS - facts.PHASE_BITS))
        for n, product in enumerate(self.products):
            steps, angle = [Signal(facts.FTW_BITS, name=f"{name}_{n}") for name in ("steps", "angle")]
            cosine = sine.Cosine()
            self.submodules += cosine
            signed = Signal((facts.LEVEL_BITS, True))
            self.comb += [cosine.phase.eq(angle[below:]), signed.eq(level)]
            self.sync += [
                steps.eq(Mux(tone.clear, 0, _multiple(n, frequency))),
                angle.eq(begin + steps),
                product.eq(cosine.value * signed),
            ]

    def _later(self, value, cycles):
        """The value, so many cycles later."""
        for n in range(cycles):
            before, value = value, Signal(len(value), name=f"later_{n}")
            self.sync += value.eq(before)
        return value
