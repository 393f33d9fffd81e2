"""Credits: the sender holds one for each vector for which the receiver has room; no ready signal
crosses the link.

The receiver's FIFOs are the pools. Once vectors have left them, their credits are returned: those
of all pools together, when one pool has freed half of its depth.
"""

from functools import reduce
from operator import or_

from migen import *

from .word import PAYLOAD_BITS

__all__ = ["CreditsHeld", "CreditsFreed", "count_bits"]


def count_bits(depths) -> int:
    """Returns the width of each pool's count in a credit word. depths: of the FIFOs, in the order
    of their streams. Raises ValueError if the pools do not fit into a word."""
    if not depths:
        return 1
    bits = bits_for(max(depths))
    if bits * len(depths) > PAYLOAD_BITS:
        raise ValueError(f"{len(depths)} pools of {bits} bits do not fit into a word of credits")
    return bits


class CreditsHeld(Module):
    """Credits at the sender. `available[n]`: a vector of stream n may be sent; `spent[n]`: one is sent in
    this cycle; `left[n]`: number that may be sent. `returned` (in, 54 bits): a credit word, in a cycle with
    `valid` (in)."""

    def __init__(self, depths):
        self.available = [Signal() for _ in depths]
        self.spent = [Signal() for _ in depths]
        self.left = [Signal(max=depth + 1, reset=depth) for depth in depths]
        self.valid = Signal()
        self.returned = Signal(PAYLOAD_BITS)

        # # #

        bits = count_bits(depths)
        for n, held in enumerate(self.left):
            back = Mux(self.valid, self.returned[n * bits : (n + 1) * bits], 0)
            self.comb += self.available[n].eq(held != 0)
            self.sync += held.eq(held + back - self.spent[n])


class CreditsFreed(Module):
    """Credits at the receiver. `freed[n]`: a vector of stream n has left its FIFO. `counts` (out, 54 bits)
    is to be sent if `due` (out); `sent` (in): it was sent in this cycle."""

    def __init__(self, depths):
        self.freed = [Signal() for _ in depths]
        self.due = Signal()
        self.counts = Signal(PAYLOAD_BITS)
        self.sent = Signal()

        # # #

        bits = count_bits(depths)
        half = []
        for n, depth in enumerate(depths):
            freed = Signal(bits)
            self.comb += self.counts[n * bits : (n + 1) * bits].eq(freed)
            self.sync += freed.eq(Mux(self.sent, 0, freed) + self.freed[n])
            half.append(freed >= max(1, depth // 2))
        self.comb += self.due.eq(reduce(or_, half, 0))
