"""A lane: a FIFO of events with increasing timestamps, and the gate that releases each at its time.

The gate compares with "not later than", not with equality: an event that is late for any reason is
released at once and reported, instead of blocking its lane forever.

Timing: an event written in cycle 0 is at the gate in cycle 2; a gate decision in cycle 0
(`gate_time` = its coarse time) asserts `valid` in cycle 1. One event per cycle. Clock domain sys.
"""

from migen import *
from migen.genlib.fifo import SyncFIFOBuffered
from migen.genlib.record import layout_len

__all__ = ["Lane", "ROOMY"]

ROOMY = 24
"""Free places in a lane that counts as roomy: more than an initiator can have in flight."""


class _Gone(Module):
    """The event that a lane released in the previous cycle. Unchanged once `due` has been 0 for two
    cycles.

    `valid` (out): there is one, `event` (out); `late` (out): it was released after its time.
    """

    def __init__(self, layout, due, late, head):
        self.valid = Signal()
        self.event = Record(layout)
        self.late = Signal()

        # # #

        self.sync += [self.valid.eq(due), self.event.raw_bits().eq(head.raw_bits()), self.late.eq(due & late)]


class Lane(Module):
    """gate_time: coarse counter plus OUTPUT_LATENCY. `free` (out): room for at least two more events, one
    of which may be in the dispatcher's write register. `late`: this event was released after its time.

    `we` (in): `write` (in) is appended. `roomy` (out): room for as many events as an initiator has
    in flight. `head` (out): the oldest event, if `waiting` (out); `due` (out): it is released in
    this cycle. `settled` (out): nothing is on its way to the head.
    """

    def __init__(self, layout, depth, gate_time):
        self.we = Signal()
        self.write = Record(layout)
        self.free = Signal()
        self.roomy = Signal()
        # For time skip: all written events but the waiting ones have left; the head, if any
        self.settled = Signal()
        self.waiting = Signal()
        self.head = Record(layout)

        # # #

        self.submodules.fifo = fifo = SyncFIFOBuffered(layout_len(layout), depth)
        self.due = due = Signal()
        late = self.head.coarse != gate_time
        self.submodules.gone = gone = _Gone(layout, due, late, self.head)
        self.valid, self.event, self.late = gone.valid, gone.event, gone.late
        self.comb += [
            fifo.we.eq(self.we),
            fifo.din.eq(self.write.raw_bits()),
            self.free.eq(fifo.fifo.level < depth - 1),
            self.roomy.eq(fifo.fifo.level < depth - ROOMY),
            self.head.raw_bits().eq(fifo.dout),
            due.eq(fifo.readable & (self.head.coarse <= gate_time)),
            fifo.re.eq(due),
            self.waiting.eq(fifo.readable),
            self.settled.eq(~self.we & ~due & ~self.valid & (fifo.readable | (fifo.fifo.level == 0))),
        ]
