"""What the DAC of a Phaser as a satellite gets (`mtdds.py`): 2 or 4 samples of I and Q in a cycle for each RF channel
(250 or 500 MS/s). Clock domain sys.

Of each tone, with amplitude a of 32767, frequency word f, phase word o and accumulator p, sample s of a cycle is

    I = a cos(2 pi (p + s f + 2^16 o) / 2^32)      Q likewise, with a sine      and then      p' = p + S f

with S samples in a cycle; while the tone is cleared, p and s f are 0. The sum over the tones of an RF channel is
limited to 16 bits. With test words as source, I and Q are those. Cosines are those of `pulse/sine.py`, so a tone is
within 2 of the 16 bits.

Timing: the first sample of the cycle of an event's time is in `samples` LATENCY cycles later. This is not part of
simulated devices, so it has no skip of time.

A sample of a tone needs two BRAM18 and four DSP48E1: for 26 tones and 2 samples, of both RF channels, 208 BRAM18 and
416 DSP48E1.
"""

from migen import *

from ..contracts import phaser_mtdds as facts
from ..pulse import sine

__all__ = ["LATENCY", "Samples"]

LATENCY = sine.LATENCY + 5
"""Cycles from an event's time to its first sample."""
_BITS = facts.CONTROL_BITS
_FRACTION = sine.facts.SINE_BITS - 1
_QUARTER = 1 << sine.facts.SINE_PHASE_BITS - 2


class Samples(Module):
    """card: `mtdds.Mtdds`. `samples` (out): for each RF channel the samples of a cycle, the first in time first, each a
    pair of I and Q (16 bits, signed)."""

    def __init__(self, card):
        self.samples = []

        # # #

        sources = self._later(card.sources)
        width = len(sources) // len(card.tones)
        words = [self._later(word) for word in card.test_words]
        for channel, tones in enumerate(card.tones):
            played = [_Tone(tone, card.samples) for tone in tones]
            self.submodules += played
            chosen = sources[channel * width :][:width] == facts.SOURCE_TONES
            self.samples.append(
                [
                    [
                        self._sample([tone.products[n][part] for tone in played], chosen, words[2 * channel + part])
                        for part in range(2)
                    ]
                    for n in range(card.samples)
                ]
            )

    def _sample(self, products, chosen, word):
        """The limited sum of products, or the word."""
        most = (1 << _BITS - 1) - 1
        total = Signal((len(products[0]) + (len(products) - 1).bit_length() + 1, True))
        whole, sample = Signal((len(total) - _FRACTION, True)), Signal((_BITS, True))
        self.comb += whole.eq(total >> _FRACTION)
        self.sync += [
            total.eq(sum(products) + (1 << _FRACTION - 1)),
            If(chosen, sample.eq(Mux(whole > most, most, Mux(whole < -most - 1, -most - 1, whole)))).Else(
                sample.eq(word)
            ),
        ]
        return sample

    def _later(self, value):
        """The value, in time for the last register of a sample."""
        for n in range(LATENCY - 1):
            before, value = value, Signal(len(value), name=f"later_{n}")
            self.sync += value.eq(before)
        return value


class _Tone(Module):
    """tone: `mtdds.Tone`. `products` (out): for each sample the amplitude times cosine and sine, with as many bits of
    fraction as these have."""

    def __init__(self, tone, samples):
        self.products = []

        # # #

        phase, begin = Signal(facts.FTW_BITS), Signal(facts.FTW_BITS)
        multiples = [self._multiple(n, tone) for n in range(samples + 1)]
        below = facts.FTW_BITS - sine.facts.SINE_PHASE_BITS
        self.sync += [
            phase.eq(phase + multiples[-1]),
            begin.eq(Mux(tone.clr, 0, phase) + (tone.pow << facts.FTW_BITS - facts.POW_BITS)),
            If(tone.clr, phase.eq(0)),
        ]
        factor = tone.asf
        for n in range(sine.LATENCY + 2):
            before, factor = factor, Signal(len(tone.asf), name=f"asf_{n}")
            self.sync += factor.eq(before)
        signed = Signal((len(factor) + 1, True))
        self.comb += signed.eq(factor)
        for steps in multiples[:-1]:
            held, angle = Signal(facts.FTW_BITS), Signal(facts.FTW_BITS)
            self.sync += [held.eq(steps), angle.eq(begin + held)]
            top = Signal(sine.facts.SINE_PHASE_BITS)
            self.comb += top.eq(angle[below:])
            self.products.append([self._product(top, signed), self._product(top - _QUARTER, signed)])

    def _multiple(self, number, tone):
        """Number times the frequency; 0 while the tone is cleared."""
        value = Signal(facts.FTW_BITS, name=f"times_{number}")
        parts = [tone.ftw << bit for bit in range(number.bit_length()) if number >> bit & 1]
        self.comb += value.eq(Mux(tone.clr, 0, sum(parts, C(0))))
        return value

    def _product(self, angle, factor):
        cosine = sine.Cosine()
        self.submodules += cosine
        product = Signal((sine.facts.SINE_BITS + len(factor), True))
        self.comb += cosine.phase.eq(angle)
        self.sync += product.eq(cosine.value * factor)
        return product
