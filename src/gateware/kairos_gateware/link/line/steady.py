"""Detects whether the logic clock has followed the clock received over the link for a while.

A satellite's clock comes from a chip that follows the received clock slowly and starts on its own
crystal: for a second after the link is established both clocks run at almost the same frequency,
and a counter set during that time soon drifts off. So both clocks are counted and the difference is
monitored: it stays constant, except for the one cycle of sampling uncertainty and the half cycle by
which the logic clock is shifted (`phase`). Clock domain sys.
"""

from migen import *
from migen.genlib.cdc import GrayCounter, GrayDecoder, MultiReg

__all__ = ["SLIP", "WINDOW", "Steady"]

WINDOW = 2**24
"""Cycles, 0.13 s: longer than 60 time constants of a loop of 60 Hz."""
SLIP = 2
"""Greatest change of the difference, in cycles: in a window 0.18 parts of 10^6."""
_BITS = 4


class Steady(Module):
    """received: domain of the received clock. present: level in that domain; the clock is that of
    the upstream board.

    `steady` (out): the difference has not changed by more than SLIP for `window` cycles, nor since. A clock
    that stops or slips clears it and begins another window.
    """

    def __init__(self, received, present, window=WINDOW):
        self.steady = Signal()

        # # #

        self.submodules.counter = counter = ClockDomainsRenamer(received)(GrayCounter(_BITS))
        self.submodules.decoder = decoder = GrayDecoder(_BITS)
        there, own = Signal(), Signal(_BITS)
        self.specials += [MultiReg(counter.q, decoder.i), MultiReg(present, there)]
        first, change = Signal(_BITS), Signal((_BITS, True))
        time = Signal(max=window)
        slipped = Signal()
        self.comb += [
            counter.ce.eq(1),
            # Modulo the counters' width: the difference wraps around with both counters
            change.eq((own - decoder.o - first)[:_BITS]),
            slipped.eq((change > SLIP) | (change < -SLIP) | ~there),
        ]
        self.sync += [
            own.eq(own + 1),
            If(slipped, self.steady.eq(0), time.eq(0), first.eq(own - decoder.o))
            .Elif(time == window - 1, self.steady.eq(1))
            .Else(time.eq(time + 1)),
        ]
