"""FIFO of an input channel whose events are pushed: stamped events, and a mark where some were lost.

Timing as `inputs.InputFifo`: a pad sampled in cycle s is readable in cycle s + INPUT_VISIBLE. Clock domain sys.
"""

from migen import *
from migen.genlib.fifo import SyncFIFOBuffered

from .timing import COARSE_BITS, FINE_BITS, INPUT_LATENCY

__all__ = ["MarkingFifo"]


class MarkingFifo(Module):
    """Stamped events of one channel, and where some were lost. `readable`: there is something;
    `lost`: what comes next is not an event, it says that some were lost here; `more`: something
    else is behind it; `re` takes it."""

    def __init__(self, link, timebase, depth):
        self.readable = Signal()
        self.lost = Signal()
        self.more = Signal()
        self.re = Signal()
        self.timestamp = Signal(64)
        self.data = Signal(link.data_width)
        self.settled = Signal()

        # # #

        stamp = timebase.shifted(-INPUT_LATENCY)
        self.submodules.fifo = fifo = SyncFIFOBuffered(COARSE_BITS + FINE_BITS + link.data_width + 1, depth)
        gap = Signal()  # events were lost, none has been kept since
        behind = Signal()  # the event at the head is the first one behind a gap
        told = Signal()  # and this has been said
        empty = ~fifo.readable & (fifo.fifo.level == 0)
        self.comb += [
            fifo.we.eq(link.stb),
            fifo.din.eq(Cat(link.fine, stamp, link.data, gap & ~(self.re & empty))),
            Cat(self.timestamp, self.data, behind).eq(fifo.dout),
            self.readable.eq(fifo.readable | (gap & empty)),
            self.lost.eq(~fifo.readable | (behind & ~told)),
            self.more.eq(fifo.readable & ((fifo.fifo.level != 0) | gap | self.lost)),
            fifo.re.eq(self.re & ~self.lost),
            self.settled.eq(~link.stb & (fifo.readable | (fifo.fifo.level == 0))),
        ]
        self.sync += [
            If(self.re, told.eq(fifo.readable & self.lost)),
            If(self.re & empty, gap.eq(0)),
            If(link.stb, gap.eq(~fifo.writable)),
        ]
