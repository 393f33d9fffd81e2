"""Cosine of a phase: a table of a quadrant, and a first-order correction between its entries. Clock
domain sys.

The table has sines with twice the scale, at the middle of steps of 2^SINE_FINE_BITS phases; its
mirror image has the cosines, so that the two ports of a block RAM provide both. The correction is
sine times the angle from the step's middle. The result is within 1 of round((2^17 - 1) cos(2 pi (k
+ 1/2) / 2^18)).
"""

from math import pi, sin

from migen import *

from ..contracts import pulse as facts

__all__ = ["Cosine", "LATENCY", "QUADRANT", "coarse_table", "slope_table"]

LATENCY = 5
"""Cycles from the phase to its cosine."""
QUADRANT = 1 << facts.SINE_PHASE_BITS - 2
_FULL_SCALE = (1 << facts.SINE_BITS - 1) - 1
_COARSE, _FINE = facts.SINE_COARSE_BITS, facts.SINE_FINE_BITS
_SLOPE_BITS = 14


def coarse_table():
    """Sines at the middle of each step of the first quadrant, twice full scale."""
    angles = ((entry + 0.5) * 2**_FINE * pi / 2 / QUADRANT for entry in range(1 << _COARSE))
    return [round(2 * _FULL_SCALE * sin(angle)) for angle in angles]


def slope_table():
    """The angle from the middle of a step, scaled by 2^(SINE_SLOPE_SHIFT); signed."""
    return [round((2 * fine + 1 - 2**_FINE) * pi * facts.SINE_SLOPE_SCALE) for fine in range(1 << _FINE)]


class Cosine(Module):
    """`phase` (in, 18 bits): of a turn. `value` (out, 18 bits, signed): LATENCY cycles later."""

    def __init__(self):
        self.phase = Signal(facts.SINE_PHASE_BITS)
        self.value = Signal((facts.SINE_BITS, True))

        # # #

        within, mirrored, negative = self.phase[:-2], self.phase[-2], self.phase[-2] ^ self.phase[-1]
        place = Signal(len(within))
        sines = Memory(facts.SINE_BITS, 1 << _COARSE, init=coarse_table())
        slopes = Array(C(slope, (_SLOPE_BITS, True)) for slope in slope_table())
        ports = [sines.get_port(), sines.get_port()]
        self.specials += sines, *ports
        slope = [Signal((_SLOPE_BITS, True), name=f"slope_{n}") for n in range(2)]
        product = Signal((facts.SINE_BITS + _SLOPE_BITS + 1, True))
        cosine = [Signal(facts.SINE_BITS, name=f"cosine_{n}") for n in range(2)]
        sine, corrected = Signal(facts.SINE_BITS), Signal(facts.SINE_BITS + 1)  # never negative
        sign = Signal(LATENCY - 1)
        limited = Signal(facts.SINE_BITS - 1)
        self.comb += [
            place.eq(within ^ Replicate(mirrored, len(within))),
            ports[0].adr.eq(place[_FINE:]),
            ports[1].adr.eq(~place[_FINE:]),
            limited.eq(Mux(corrected[-1], _FULL_SCALE, corrected[1:-1])),
        ]
        self.sync += [
            sign.eq(Cat(negative, sign)),
            slope[0].eq(slopes[place[:_FINE]]),
            Cat(slope[1], sine, cosine[0]).eq(Cat(slope[0], ports[0].dat_r, ports[1].dat_r)),
            product.eq(sine * slope[1] + (1 << facts.SINE_SLOPE_SHIFT - 1)),
            cosine[1].eq(cosine[0]),
            corrected.eq(cosine[1] - (product >> facts.SINE_SLOPE_SHIFT) + 1),
            self.value.eq(Mux(sign[-1], -limited, limited)),
        ]
