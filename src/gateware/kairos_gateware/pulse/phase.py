"""A tone's phase: the accumulated frequency, or the global phase where it synchronises, plus all
offsets. Clock domain sys; all arithmetic is modulo one turn, 2^40.

    cycle 0      frequency, phase, frame, counter
    cycle 1..3   frequency times counter, the phase of a tone that has run since the counter began; harmonic times error
    cycle 4      accumulated phase with what is added; multiples of the frequency
    cycle 5      phases of the cycle's samples
"""

from migen import *

from ..contracts import pulse as facts

__all__ = ["FeedForward", "LATENCY", "Phase", "Product", "delayed"]

LATENCY = 5
"""Cycles from frequency and phase to the samples' phases."""
_BITS = facts.VALUE_BITS
_LIMB = 17
"""Bits of a factor's part: two of them fit into a multiplier of the chip."""


def delayed(module, signal, cycles):
    """The signal some cycles later."""
    for n in range(cycles):
        after = Signal.like(signal, name=f"delayed_{n}")
        module.sync += after.eq(signal)
        signal = after
    return signal


class Product(Module):
    """`product` (out, 40 bits) of `a` and `b` (in, 40 bits), modulo 2^40, three cycles later."""

    def __init__(self):
        self.a, self.b, self.product = Signal(_BITS), Signal(_BITS), Signal(_BITS)

        # # #

        a, b = [[factor[at : at + _LIMB] for at in range(0, _BITS, _LIMB)] for factor in [self.a, self.b]]
        terms = []
        for n, one in enumerate(a):
            for m, two in enumerate(b[: len(a) - n]):
                at = (n + m) * _LIMB
                term = Signal(min(len(one) + len(two), _BITS - at), name=f"term_{n}_{m}")
                self.sync += term.eq(one * two)
                terms.append(Cat(C(0, at), term) if at else term)
        sums = [Signal(_BITS, name=f"sum_{n}") for n in range(2)]
        self.sync += [
            sums[0].eq(terms[0] + terms[1] + terms[2]),
            sums[1].eq(terms[3] + terms[4] + terms[5]),
            self.product.eq(sums[0] + sums[1]),
        ]


class FeedForward(Module):
    """The accumulated phase of a frequency error. `error` (in, 40 bits): a frequency. `phase` (out, 40
    bits): in this cycle."""

    def __init__(self, samples_per_cycle):
        self.error, self.phase = Signal(_BITS), Signal(_BITS)
        self.sync += self.phase.eq(self.phase + self.error * samples_per_cycle)


class Phase(Module):
    """forward: the `FeedForward`. counter: of samples, in the cycle of `frequency` (in, 40 bits). `phase`,
    `frame` (in, 40 bits): to be added. `synchronise` (in): begin at the global phase. `follow` (in): add
    the feed-forward, times `harmonic` (in, 16 bits, signed).

    `phases`: of the samples of the cycle, the bits used to compute a sine, LATENCY cycles later.
    """

    def __init__(self, samples_per_cycle, forward, counter):
        self.frequency, self.phase, self.frame = Signal(_BITS), Signal(_BITS), Signal(_BITS)
        self.synchronise, self.follow = Signal(), Signal()
        self.harmonic = Signal((facts.HARMONIC_BITS, True))
        self.phases = [Signal(facts.SINE_PHASE_BITS, name=f"phase_{n}") for n in range(samples_per_cycle)]

        # # #

        self.submodules.globally, self.submodules.shift, self.submodules.bend = factors = [Product() for _ in range(3)]
        harmonic = Signal((_BITS, True))
        self.comb += [
            harmonic.eq(Mux(self.follow, self.harmonic, 0)),
            *[factors[0].a.eq(self.frequency), factors[0].b.eq(counter)],
            *[factors[1].a.eq(forward.phase), factors[1].b.eq(harmonic)],
            *[factors[2].a.eq(forward.error), factors[2].b.eq(harmonic)],
        ]
        added = Signal(_BITS)
        self.sync += added.eq(self.phase + self.frame)
        added = delayed(self, added, 2)
        frequency = delayed(self, self.frequency, 3)
        synchronise = delayed(self, self.synchronise, 3)
        step, now, accumulated, base = [Signal(_BITS, name=n) for n in ["step", "now", "accumulated", "base"]]
        self.comb += [
            now.eq(Mux(synchronise, self.globally.product, accumulated)),
            step.eq(frequency + self.bend.product),
        ]
        self.sync += [
            accumulated.eq(now + frequency * samples_per_cycle),
            base.eq(now + added + self.shift.product),
        ]
        for n, phase in enumerate(self.phases):
            multiple, total = Signal(_BITS, name=f"multiple_{n}"), Signal(_BITS, name=f"total_{n}")
            self.comb += phase.eq(total[_BITS - facts.SINE_PHASE_BITS :])
            self.sync += [multiple.eq(step * n), total.eq(base + multiple)]
