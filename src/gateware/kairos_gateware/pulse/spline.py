"""A spline engine's arithmetic: a cubic polynomial by forward differences, one value per cycle.

    v0' = v0 + (v1 >> s)     v1' = v1 + (v2 >> s)     v2' = v2 + (v3 >> s)     v3' = v3

All shifts are arithmetic, without rounding; each difference wraps at its width. The differences are
kept one step ahead of the value, so that the next value is in a register. Clock domain sys.
"""

from migen import *

from ..contracts import pulse as facts
from .words import Segment

__all__ = ["Spline"]

_LOW = 32
_WIDTHS = [facts.VALUE_BITS, facts.V1_BITS, facts.V2_BITS, facts.VALUE_BITS]


class Spline(Module):
    """`running` (in): a segment has more cycles; otherwise `segment` (in, 216 bits, its body) may begin.
    `step` (in): the next value of either appears in the next cycle. `value` (out, 40 bits): v0. `following`
    (out, 40 bits): what it would be one cycle later."""

    def __init__(self):
        self.running, self.step = Signal(), Signal()
        self.segment = Signal(facts.BODY_BITS)
        self.value = Signal(facts.VALUE_BITS)
        self.following = Signal(facts.VALUE_BITS)

        # # #

        segment = Segment(self.segment)
        shift, shift_now = Signal(facts.SHIFT_BITS), Signal(facts.SHIFT_BITS)
        kept = [Signal((width, True), name=f"v{n}") for n, width in enumerate(_WIDTHS)]  # v3 never changes
        now = [Signal((width, True), name=f"v{n}_now") for n, width in enumerate(_WIDTHS)]
        first = [Signal((facts.VALUE_BITS, True), name=f"u{n}") for n in range(len(_WIDTHS))]
        self.comb += [
            self.following.eq(kept[0]),
            shift_now.eq(Mux(self.running, shift, segment.shift)),
            [u.eq(bits) for u, bits in zip(first, segment.u, strict=True)],
            [v.eq(Mux(self.running, old, u)) for v, old, u in zip(now, kept, first, strict=True)],
        ]
        # Of the shifted second difference, only the bits that fit into the first are computed, in
        # two parts: shifts of at most 64 bits simulate faster.
        low, high = Signal(_LOW), Signal(_WIDTHS[1] - _LOW)
        upper = Signal((_WIDTHS[2] - _LOW, True))
        rates = [Signal((width, True), name=f"rate{n}") for n, width in enumerate([_WIDTHS[n] for n in (1, 1, 3)])]
        self.comb += [
            upper.eq(now[2][_LOW:]),
            low.eq(now[2][: 2 * _LOW] >> shift_now),
            high.eq(upper >> shift_now),
            rates[0].eq(now[1] >> shift_now),
            rates[1].eq(Cat(low, high)),
            rates[2].eq(now[3] >> shift_now),
        ]
        steps = [v.eq(of + rate) for v, of, rate in zip(kept, now, rates, strict=False)]
        self.sync += If(self.step, self.value.eq(now[0]), shift.eq(shift_now), *steps, kept[-1].eq(now[-1]))
