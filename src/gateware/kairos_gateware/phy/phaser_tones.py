"""Oscillators of a Phaser's RF channel: five, whose sum is a sample of I and Q every five cycles (40
ns, 25 MS/s). Clock domain sys.

In each cycle of a sample one oscillator n is served. Its accumulator (32 bits) gets its frequency word
added, or is 0 while `clr` is set; of accumulator + 2^16 `pow` the upper 18 bits are its phase. With
cosines and sines of amplitude 2^15 - 2:

    I = limit((sum of asf cos + 2^14) / 2^15)      Q likewise, with sines

limit is to 16 bits. Between the settings and the sample are about LATENCY cycles and a sample. The
cosines are those of `pulse/sine.py`, so a sample is within 2 of what the card's own gateware computes.

A skip of time in simulation advances the accumulators, but not what is on its way.
"""

from migen import *

from ..contracts import phaser as facts
from ..pulse import sine

__all__ = ["LATENCY", "Elapsed", "Tones", "announced"]

SLOTS = facts.OSCILLATORS
"""Cycles of a sample."""
LATENCY = sine.LATENCY + 5
_WORD = 32
_SAMPLE = 16
_FINER = facts.ANNOUNCED_PHASE_BITS
"""Bits of an accumulator that are announced."""


class Elapsed(Module):
    """Updates of each oscillator in a skip of time (`ticks`, modulo 2^32, 0 without one).

    slot, then: the oscillator served now, and first after the skip; skip: `FreeRunning`.
    """

    def __init__(self, slot, then, skip):
        self.ticks = [Signal(_WORD, name=f"ticks_{n}") for n in range(SLOTS)]

        # # #

        whole = Signal(_WORD)  # a multiple of the odd number of slots, so it can be divided modulo 2^32
        rounds = Signal(_WORD)
        self.comb += [
            # 0 while nothing is skipped, so that a simulation need not evaluate the products
            If(skip.stb, whole.eq(skip.cycles + slot - then)),
            rounds.eq(whole * C(pow(SLOTS, -1, 1 << _WORD), _WORD)),
            *[If(skip.stb, tick.eq(rounds + (then > n) - (slot > n))) for n, tick in enumerate(self.ticks)],
        ]


class Tones(Module):
    """frequencies, outputs: words of the oscillators, the second ones `TONE`; slot: the oscillator that is
    served in this cycle; elapsed: `Elapsed`, skip: `FreeRunning`.

    `i`, `q` (out, 16 bits, signed): the last sample; they change once in five cycles. `accumulators`:
    of each oscillator.
    """

    def __init__(self, frequencies, outputs, slot, elapsed, skip):
        self.accumulators = [Signal(_WORD, name=f"accumulator_{n}") for n in range(SLOTS)]
        self.i, self.q = Signal((_SAMPLE, True)), Signal((_SAMPLE, True))

        # # #

        tone = [Record(facts.TONE, name=f"tone_{n}") for n in range(SLOTS)]
        self.comb += [record.raw_bits().eq(word) for record, word in zip(tone, outputs, strict=True)]
        for n, (accumulator, frequency) in enumerate(zip(self.accumulators, frequencies, strict=True)):
            self.sync += [
                If(slot == n, accumulator.eq(accumulator + frequency)),
                If(skip.stb, accumulator.eq(accumulator + frequency * elapsed.ticks[n])),
                If(tone[n].clr, accumulator.eq(0)),
            ]
        phase = Signal(sine.facts.SINE_PHASE_BITS)
        factor = Signal(len(tone[0].asf))
        total = Signal(sine.facts.SINE_PHASE_BITS)
        chosen = Signal(_WORD)
        self.comb += [
            Case(slot, {n: chosen.eq(self.accumulators[n] + (tone[n].pow << _WORD - 16)) for n in range(SLOTS)}),
            total.eq(chosen[-sine.facts.SINE_PHASE_BITS :]),
        ]
        self.sync += [phase.eq(total), Case(slot, {n: factor.eq(tone[n].asf) for n in range(SLOTS)})]
        first = Signal(LATENCY)  # the first oscillator of a sample is at these places
        factors = self._later(factor, sine.LATENCY + 1)
        self.sync += first.eq(Cat(slot == 0, first))
        quarter = 1 << sine.facts.SINE_PHASE_BITS - 2
        for angle, sample in [(phase, self.i), (phase - quarter, self.q)]:
            self._sum(angle, factors, first, sample)

    def _sum(self, angle, factor, first, sample):
        """Adds up a sample from cosines of `angle`."""
        cosine = sine.Cosine()
        self.submodules += cosine
        value = Signal((sine.facts.SINE_BITS, True))
        product = Signal((sine.facts.SINE_BITS + len(factor) + 1, True))
        total = Signal((len(product) + 3, True))
        signed = Signal((len(factor) + 1, True))
        rounded = Signal((len(total) - sine.facts.SINE_BITS + 1, True))
        most = (1 << _SAMPLE - 1) - 1
        at = sine.LATENCY + 1  # of `value`, whose phase was registered
        self.comb += [
            cosine.phase.eq(angle),
            signed.eq(factor),
            rounded.eq((total + (1 << sine.facts.SINE_BITS - 2)) >> sine.facts.SINE_BITS - 1),
        ]
        self.sync += [
            # Amplitude 2^17 - 2^3 of 2^17
            value.eq(cosine.value - (cosine.value >> 14)),
            product.eq(value * signed),
            If(first[at + 1], total.eq(product)).Else(total.eq(total + product)),
            If(
                first[at + 1],
                sample.eq(Mux(rounded > most, most, Mux(rounded < -most - 1, -most - 1, rounded))),
            ),
        ]

    def _later(self, value, cycles):
        for n in range(cycles):
            before, value = value, Signal(len(value), name=f"later_{n}")
            self.sync += value.eq(before)
        return value


def announced(tones, frequencies, outputs):
    """Of an RF channel's oscillators, in the last cycle of a sample: what they do from the next one on,
    lowest bit first. The last one is being served, so its accumulator is still that of this sample."""
    settled = [*tones.accumulators[:-1], Signal(_WORD, name="accumulator_next")]
    tones.comb += settled[-1].eq(tones.accumulators[-1] + frequencies[-1])
    rows = zip(settled, frequencies, outputs, strict=True)
    return Cat(*[Cat(accumulator[-_FINER:], frequency, output) for accumulator, frequency, output in rows])
