"""FIFO of an input channel with pushed events: stamped events, and marks where some were lost.

Timing as `inputs.InputFifo`: a pad sampled in cycle s is readable in cycle s + INPUT_VISIBLE. Clock
domain sys.
"""

from migen import *
from migen.genlib.fifo import SyncFIFOBuffered

from .timing import COARSE_BITS, FINE_BITS, INPUT_LATENCY

__all__ = ["MarkingFifo"]


class MarkingFifo(Module):
    """Stamped events of one channel, and marks where some were lost. `readable` (out): there is an entry;
    `lost` (out): it is not an event but marks lost events; `more` (out): another entry follows; `re` (in)
    takes it.

    `timestamp` (out, 64 bits), `data` (out, `link.data_width` bits): of the entry. `settled` (out): none is
    being stored.
    """

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
        gap = Signal()  # events were lost, none has been stored since
        behind = Signal()  # the event at the head is the first one after a gap
        reported = Signal()  # the mark of that gap has been taken
        empty = ~fifo.readable & (fifo.fifo.level == 0)
        self.comb += [
            fifo.we.eq(link.stb),
            fifo.din.eq(Cat(link.fine, stamp, link.data, gap & ~(self.re & empty))),
            Cat(self.timestamp, self.data, behind).eq(fifo.dout),
            self.readable.eq(fifo.readable | (gap & empty)),
            self.lost.eq(~fifo.readable | (behind & ~reported)),
            self.more.eq(fifo.readable & ((fifo.fifo.level != 0) | gap | self.lost)),
            fifo.re.eq(self.re & ~self.lost),
            self.settled.eq(~link.stb & (fifo.readable | (fifo.fifo.level == 0))),
        ]
        self.sync += [
            If(self.re, reported.eq(fifo.readable & self.lost)),
            If(self.re & empty, gap.eq(0)),
            If(link.stb, gap.eq(~fifo.writable)),
        ]
