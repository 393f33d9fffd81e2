"""One multiplier for all filters: accumulates three products after a pre-adder, as in a DSP48E1,
and clamps Y.

    operands   cycle 0, 1, 2: (operand + summand) · factor
    total      cycle 3 the first product, 4, 5 with the others: complete in cycle 5
    y          cycle 7: the sum, without its fraction, within 0 and the largest Y

Clock domain sys.
"""

from migen import *

from .format import COEFF_SHIFT, COEFF_WIDTH, STATE_WIDTH

__all__ = ["Accumulator", "Limiter"]

_PRODUCT_WIDTH = 48


class Accumulator(Module):
    """`operand`, `summand` (in, 25 bits, signed), `factor` (in, 18 bits, signed); `first` (in): the product
    that arrives now begins a sum, `more` (in): it belongs to one.

    `total` (out, 48 bits, signed): the sum.
    """

    def __init__(self):
        self.operand, self.summand = Signal((STATE_WIDTH, True)), Signal((STATE_WIDTH, True))
        self.factor = Signal((COEFF_WIDTH, True))
        self.first, self.more = Signal(), Signal()
        self.total = Signal((_PRODUCT_WIDTH, True))

        # # #

        added = Signal((STATE_WIDTH, True))
        delayed = Signal((COEFF_WIDTH, True))
        product = Signal((STATE_WIDTH + COEFF_WIDTH, True))
        self.sync += [
            added.eq(self.operand + self.summand),
            delayed.eq(self.factor),
            product.eq(added * delayed),
            If(self.first, self.total.eq(product)).Elif(self.more, self.total.eq(self.total + product)),
        ]


class Limiter(Module):
    """total: of an `Accumulator`. `y` (out, 25 bits, signed): two cycles later its whole part, clamped, or
    `old` (in, 25 bits, signed) without `update` (in). `limited` (out): one cycle after the sum was
    complete, it is out of range."""

    def __init__(self, total):
        self.update = Signal()
        self.old = Signal((STATE_WIDTH, True))
        self.y = Signal((STATE_WIDTH, True))
        self.limited = Signal()

        # # #

        result = Signal(STATE_WIDTH - 1)
        negative, large = Signal(), Signal()
        above = total[COEFF_SHIFT + STATE_WIDTH - 1 : -1]
        self.comb += self.limited.eq(negative | large)
        self.sync += [
            result.eq(total[COEFF_SHIFT:]),
            negative.eq(total[-1]),
            large.eq(~total[-1] & (above != 0)),
            If(~self.update, self.y.eq(self.old))
            .Elif(negative, self.y.eq(0))
            .Elif(large, self.y.eq(2 ** (STATE_WIDTH - 1) - 1))
            .Else(self.y.eq(result)),
        ]
