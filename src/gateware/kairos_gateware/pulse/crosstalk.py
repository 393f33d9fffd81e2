"""Crosstalk compensation: cancels what a channel picks up from its neighbours by adding their ideal
signals times complex factors. Clock domain sys.

    y_c(t) = x_c(t - LATENCY - zero) + sum of Re(k x_n(t - LATENCY - delay)) over the neighbours n of c

A neighbour's signal is taken before its own compensation, so there is no feedback. A delay equal to
`zero` means that both coincide exactly; greater ones are later. Each product is rounded, `(p +
2^16) >> 17`.

    cycle 0      signals
    cycle 1      in the delay lines
    cycle 2      out of them, 0 to 63 cycles later
    cycle 3..4   products, their difference
    cycle 5..6   the sum of four neighbours, then with the own signal

Factors and delays are written one coupling at a time and take effect on `commit`, all at once.
"""

from migen import *

from ..contracts import pulse as facts
from .phase import delayed

__all__ = ["Crosstalk", "LATENCY", "OFFSETS"]

OFFSETS = [-2, -1, 1, 2]
"""Neighbours by index: the difference of their channel's number."""
LATENCY = 6
"""Cycles from signals to compensated ones, without the programmed delay."""
_DELAY_BITS = facts.CROSSTALK_DELAY_MAX.bit_length()
_PART = facts.SUM_BITS


class _Delay(Module):
    """`out` (out, as `into`) is `into`, 2 cycles and `delay` later. place: counts cycles, for all delay
    lines."""

    def __init__(self, into, place, delay):
        self.out = Signal(len(into))

        # # #

        memory = Memory(len(into), facts.CROSSTALK_DELAY_MAX + 1)
        write = memory.get_port(write_capable=True)
        read = memory.get_port(mode=READ_FIRST)
        self.specials += memory, write, read
        self.comb += [
            *[write.adr.eq(place), write.dat_w.eq(into), write.we.eq(1)],
            *[read.adr.eq(place - 1 - delay), self.out.eq(read.dat_r)],
        ]


class _Coupling(Module):
    """A channel's contribution from one neighbour. real, imaginary: its signal, lists of a cycle's samples.
    `write` (in): `factor` and `delay` (in, 6 bits) are stored; `commit` (in): the stored values take
    effect. `parts`: to be added."""

    def __init__(self, real, imaginary, place):
        self.write, self.commit = Signal(), Signal()
        self.factor = [Signal((facts.CROSSTALK_BITS, True), name=f"factor_{part}") for part in ["real", "imaginary"]]
        self.delay = Signal(_DELAY_BITS)
        self.parts = []

        # # #

        given = Cat(*self.factor, self.delay)
        kept, used = Signal(len(given)), Signal(len(given))
        self.sync += [If(self.write, kept.eq(given)), If(self.commit, used.eq(kept))]
        factor = [Signal((facts.CROSSTALK_BITS, True), name=f"used_{part}") for part in ["real", "imaginary"]]
        delay = Signal(_DELAY_BITS)
        self.comb += Cat(*factor, delay).eq(used)
        self.submodules.line = line = _Delay(Cat(*real, *imaginary), place, delay)
        signals = [Signal((_PART, True), name=f"signal_{n}") for n in range(2 * len(real))]
        self.comb += Cat(*signals).eq(line.out)
        for i, q in zip(signals[: len(real)], signals[len(real) :], strict=True):
            products = [Signal((_PART + facts.CROSSTALK_BITS, True), name=f"product_{n}") for n in range(2)]
            difference = Signal((_PART + facts.CROSSTALK_BITS + 1, True))
            self.sync += [
                products[0].eq(factor[0] * i + (1 << facts.CROSSTALK_FRACTION - 1)),
                products[1].eq(factor[1] * q),
                difference.eq(products[0] - products[1]),
            ]
            self.parts.append(difference >> facts.CROSSTALK_FRACTION)


class Crosstalk(Module):
    """signals: of each channel, (real parts, imaginary parts) of a cycle's samples, each at most
    2^17 - 1 in magnitude as a complex number.

    `write` (in): a coupling's `factor` (real, imaginary; 18 bits signed, 17 of them after the binary point)
    and `delay` (in, 6 bits) are stored for the neighbour at OFFSETS[`offset` (in, 2 bits)] of `channel`
    (in, below `max(2, len(signals))`); `zero` (in, 6 bits): delay that means none; `commit` (in): all
    stored values take effect. `sums`: of each channel, real parts, 21 bits signed, LATENCY + zero cycles
    later. Before the first commit, and where there is no neighbour, nothing is added.
    """

    def __init__(self, signals):
        self.write, self.commit = Signal(), Signal()
        self.channel, self.offset = Signal(max=max(2, len(signals))), Signal(max=len(OFFSETS))
        self.factor = [Signal((facts.CROSSTALK_BITS, True), name=f"factor_{part}") for part in ["real", "imaginary"]]
        self.delay, self.zero = Signal(_DELAY_BITS), Signal(_DELAY_BITS)
        self.sums = []

        # # #

        place, zero = Signal(_DELAY_BITS), Signal(_DELAY_BITS)
        self.sync += [place.eq(place + 1), If(self.commit, zero.eq(self.zero))]
        for c, (real, _) in enumerate(signals):
            parts = []
            for n, offset in enumerate(OFFSETS):
                if 0 <= c + offset < len(signals):
                    coupling = _Coupling(*signals[c + offset], place)
                    self.submodules += coupling
                    self.comb += [
                        coupling.write.eq(self.write & (self.channel == c) & (self.offset == n)),
                        coupling.commit.eq(self.commit),
                        coupling.delay.eq(self.delay),
                        *[mine.eq(given) for mine, given in zip(coupling.factor, self.factor, strict=True)],
                    ]
                    parts.append(coupling.parts)
            own = _Delay(Cat(*real), place, zero)
            self.submodules += own
            self.sums.append([self._sum(own.out, n, parts) for n in range(len(real))])

    def _sum(self, own, n, parts):
        """Of a channel's sample: its own signal, plus its neighbours' contributions."""
        mine = Signal((_PART, True))
        self.comb += mine.eq(own[_PART * n :])
        halves = [Signal((facts.CROSSTALK_SUM_BITS, True), name=f"half_{m}") for m in range(2)]
        total = Signal((facts.CROSSTALK_SUM_BITS, True))
        late = delayed(self, mine, 3)
        for m, half in enumerate(halves):
            self.sync += half.eq(sum((part[n] for part in parts[2 * m : 2 * m + 2]), start=C(0)))
        self.sync += total.eq(halves[0] + halves[1] + late)
        return total
