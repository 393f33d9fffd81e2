"""Loops back the processor's EMIO outputs, so that it can measure the round trip.

Lines 0 to 31 (GPIO bank 2) come from the processor, lines 32 to 63 (bank 3) go to it. They have no
clock in common with the logic: two synchroniser stages, so lines that change together may be seen
to change a cycle apart. Latency: 2 cycles. Clock domain sys.
"""

from migen import *
from migen.genlib.cdc import MultiReg

__all__ = ["WIDTH", "Lines"]

WIDTH = 32


class Lines(Module):
    """`o` (in, 64 bits): 64 lines from the processor; `i` (out, 64 bits): 64 lines to it; `seen` (out, 32
    bits): lines 0 to 31 in clock domain sys."""

    def __init__(self):
        self.o, self.i = Signal(2 * WIDTH), Signal(2 * WIDTH)
        self.seen = Signal(WIDTH)

        # # #

        self.specials += MultiReg(self.o[:WIDTH], self.seen)
        self.comb += self.i[WIDTH:].eq(self.seen)
