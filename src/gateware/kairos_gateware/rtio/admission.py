"""Checks every output command before it becomes an event.

A command for a nonexistent channel is "unreachable". One with a time below the counter + MIN_SLACK,
or a negative time, is an underflow; commands to a discarding channel (log) are accepted at any
time. In all these cases no event is created (`refused`), and the command need not wait for
anything.

Timing: `done` and `status` follow one cycle after `take`. Clock domain sys.
"""

from functools import reduce
from operator import or_

from migen import *

from .cri import OUTPUT_UNDERFLOW, OUTPUT_UNREACHABLE
from .timing import FINE_BITS, MIN_SLACK

__all__ = ["Admission"]


class Admission(Module):
    """request: stream of output commands, as in the `Cri`. `take` (in): the command on offer is accepted in
    this cycle.

    `refused` (out): the command is answered without reaching a lane. `done` (out), for a cycle: the
    answer `status` (out, 4 bits) is valid.
    """

    def __init__(self, timebase, channels, request):
        self.take = Signal()
        self.coarse = request.timestamp[FINE_BITS:]
        self.number = request.channel[:16]
        self.refused = Signal()
        self.done = Signal()
        self.status = Signal(4)

        # # #

        exists = Signal()
        discard = Signal()
        underflow = Signal()
        self.comb += [
            exists.eq(
                (request.channel[16:] == 0)
                & reduce(or_, [self.number == c.number for c in channels if c.output is not None or c.discard])
            ),
            discard.eq(reduce(or_, [self.number == c.number for c in channels if c.discard], C(0))),
            underflow.eq(request.timestamp[63] | (self.coarse < timebase.shifted(MIN_SLACK))),
            self.refused.eq(~exists | discard | underflow),
        ]
        self.sync += [
            self.done.eq(self.take),
            self.status.eq(0),
            If(~exists, self.status.eq(OUTPUT_UNREACHABLE)).Elif(
                underflow & ~discard, self.status.eq(OUTPUT_UNDERFLOW)
            ),
        ]
