"""Whether the logic's clock is that of what comes over the link, and has been for a while.

A satellite's clock is made by a chip that follows the received clock slowly, and begins with its
own crystal: for a second after the link has come both run at almost the same frequency, and a
counter that is set then is wrong soon. So both clocks are counted, and the difference is compared
with what it was: it stays as it is, but for the cycle that depends on when one looks, and for half
of one by which the logic's clock is moved (`phase`). Clock domain sys.
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
    """received: domain of the received clock. present: level in that domain, the clock is that of the board above.

    `steady`: the difference has not changed by more than SLIP for `window` cycles, and not since. A
    clock that stops or slips ends it, and begins another window.
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
            # Of as many bits as it has: a difference goes round with both counters
            change.eq((own - decoder.o - first)[:_BITS]),
            slipped.eq((change > SLIP) | (change < -SLIP) | ~there),
        ]
        self.sync += [
            own.eq(own + 1),
            If(slipped, self.steady.eq(0), time.eq(0), first.eq(own - decoder.o))
            .Elif(time == window - 1, self.steady.eq(1))
            .Else(time.eq(time + 1)),
        ]
