"""Scalable event dispatch: each output event goes to a lane in which timestamps only increase.

Lane choice, for an event at coarse time T, where last[i] is the last time in lane i (all lanes are
compared at once): the current lane if T > last[current] and it has room; otherwise the next lane,
cyclically, for which both hold. If no lane has T > last: sequence error, the event is dropped. If
such lanes exist but are full, the request waits. So increasing timestamps spread over all lanes
when one is full, and out-of-order ones fail only if no lane can take them.

Timing: one event per cycle; status and `lane_we` one cycle after acceptance. Clock domain sys.
"""

from functools import reduce
from operator import or_

from litex.soc.interconnect import stream
from migen import *

from .admission import Admission
from .timing import COARSE_BITS, FINE_BITS

__all__ = ["Dispatcher", "event_layout"]


def event_layout(channel_width, address_width, data_width, lanes):
    """Fields of an event in lanes and network.

    younger: bit i is set if an event of the same time in lane i was submitted after this one. This
    is known at dispatch: lane i takes only increasing times, so if its last time is before this
    event's time, an event of that time can only follow; otherwise none can. Unlike a sequence
    number this never wraps, however long an event waits.
    """
    return [
        ("coarse", COARSE_BITS),
        ("fine", FINE_BITS),
        ("channel", channel_width),
        ("address", max(1, address_width)),
        ("data", max(1, data_width)),
        ("younger", lanes),
    ]


class Dispatcher(Module):
    """`request` (in, stream): the CRI's output stream (sink). `lane_free` (in, `lanes` bits)[i]: lane i has
    room for two more. `event` (out), `lane_we` (out, `lanes` bits): to the lanes.

    `sequence_error` (out), for a cycle: an event found no lane, in channel `sequence_error_channel` (out,
    16 bits).
    """

    def __init__(self, timebase, channels, layout, lanes, data_width):
        self.request = request = stream.Endpoint(
            [("channel", 24), ("address", 8), ("timestamp", 64), ("data", data_width)]
        )
        self.lane_free = Signal(lanes)
        self.lane_we = Signal(lanes)
        self.event = Record(layout)
        self.sequence_error = Signal()
        self.sequence_error_channel = Signal(16)

        # # #

        self.submodules.admission = admission = Admission(timebase, channels, request)
        self.done, self.status = admission.done, admission.status
        coarse = admission.coarse

        last = [Signal(COARSE_BITS, name=f"last_{i}") for i in range(lanes)]
        after = Signal(lanes)
        candidate = Signal(lanes)
        current = Signal(lanes, reset=1)  # one-hot
        behind = Signal(lanes)  # lanes up to and including the current one
        ahead = Signal(lanes)
        choice = Signal(lanes)
        self.comb += [
            [after[i].eq(coarse > last[i]) for i in range(lanes)],
            candidate.eq(after & self.lane_free),
            behind.eq(reduce(or_, [Replicate(current[i], i + 1) for i in range(lanes)])),
            ahead.eq(candidate & ~behind),
            If(candidate & current, choice.eq(current))
            # x & -x is the lowest set bit
            .Elif(ahead != 0, choice.eq(ahead & (~ahead + 1)))
            .Else(choice.eq(candidate & (~candidate + 1))),
        ]

        write = Signal()
        self.comb += [
            request.ready.eq(admission.refused | (after == 0) | (candidate != 0)),
            admission.take.eq(request.valid & request.ready),
            write.eq(admission.take & ~admission.refused & (after != 0)),
        ]
        self.sync += [
            self.sequence_error.eq(admission.take & ~admission.refused & (after == 0)),
            self.sequence_error_channel.eq(admission.number),
            self.lane_we.eq(Mux(write, choice, 0)),
            If(write, current.eq(choice)),
            [If(write & choice[i], last[i].eq(coarse)) for i in range(lanes)],
            self.event.coarse.eq(coarse),
            self.event.fine.eq(request.timestamp[:FINE_BITS]),
            self.event.channel.eq(admission.number),
            self.event.address.eq(request.address),
            self.event.data.eq(request.data),
            self.event.younger.eq(after),
        ]
