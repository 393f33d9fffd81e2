"""Scalable event dispatch: everything between the CRI's output stream and the output links, in one
of two forms.

`LaneSed`: a dispatcher chooses one of several FIFOs in which times only increase. Small; an event
is lost if the last times of all lanes are not before its time. `ReorderingSed`: accepts events in
any order; needs more block RAM.

Both provide `request`, `done`, `status`, `roomy` (there is room for `lanes.ROOMY` more events,
whatever their times), `data_width`, `reset`, `errors` ({"collision", "busy", "sequence_error":
(pulse, channel)}); and for time skip `settled` and `dues` (list of (flag, coarse time to which the
counter may be advanced)). `network`: the clock domain of the path from the lanes to the channels;
`leaving`: that domain must be clocked, also in the 4 following cycles.
"""

from functools import reduce
from operator import and_, or_

from migen import *
from migen.fhdl.bitcontainer import bits_for

from .dispatcher import Dispatcher, event_layout
from .lanes import Lane
from .network import OutputNetwork
from .reorder import ReorderingDispatcher
from .timing import OUTPUT_LATENCY

__all__ = ["LOG_WIDTH", "LaneSed", "ReorderingSed"]

LOG_WIDTH = 32
"""Data bits of the log channel: four characters, the first one in the most significant byte."""


def _widths(channels, lanes):
    """(layout of events, data bits of a command)."""
    outputs = [c.output for c in channels if c.output is not None]
    data_width = max(link.data_width for link in outputs)
    layout = event_layout(
        channel_width=bits_for(max(c.number for c in channels if c.output is not None)),
        address_width=max(link.address_width for link in outputs),
        data_width=data_width,
        lanes=lanes,
    )
    # A log channel's words do not reach the lanes, but the analyzer sees them
    return layout, max([data_width] + [LOG_WIDTH for c in channels if c.discard])


class _LaneSed(Module):
    """`roomy` (out): every lane has room for as many events as an initiator has in flight."""

    def __init__(self, timebase, channels, lanes, depth, domain):
        layout, self.data_width = _widths(channels, lanes)
        self.submodules.dispatcher = dispatcher = Dispatcher(timebase, channels, layout, lanes, self.data_width)
        self.roomy = Signal()

        # # #

        gate_time = timebase.shifted(OUTPUT_LATENCY)
        self.lanes = [Lane(layout, depth, gate_time) for _ in range(lanes)]
        self.submodules += self.lanes
        self.submodules.network = network = OutputNetwork(self.lanes, layout, channels)
        for part in [network, *[lane.gone for lane in self.lanes]]:
            ClockDomainsRenamer(domain)(part)
        for i, lane in enumerate(self.lanes):
            self.comb += [
                dispatcher.lane_free[i].eq(lane.free),
                lane.we.eq(dispatcher.lane_we[i]),
                lane.write.raw_bits().eq(dispatcher.event.raw_bits()),
            ]
        self.sync += self.roomy.eq(reduce(and_, [lane.roomy for lane in self.lanes]))


class LaneSed(Module):
    """lanes: FIFOs of `depth` events. `reset` (in): common to all."""

    def __init__(self, timebase, channels, lanes, depth, network="sys"):
        domains = sorted({"sys", network})
        parts = ResetInserter(domains)(_LaneSed(timebase, channels, lanes, depth, network))
        self.submodules.parts = parts
        self.reset = Signal()
        self.comb += [getattr(parts, f"reset_{domain}").eq(self.reset) for domain in domains]
        self.roomy = parts.roomy
        self.data_width = parts.data_width
        dispatcher, network = parts.dispatcher, parts.network
        self.request, self.done, self.status = dispatcher.request, dispatcher.done, dispatcher.status
        self.errors = {
            "collision": (network.collision, network.collision_channel),
            "busy": (network.busy, network.busy_channel),
            "sequence_error": (dispatcher.sequence_error, dispatcher.sequence_error_channel),
        }
        self.settled = reduce(and_, [lane.settled for lane in parts.lanes]) & network.settled & ~self.done
        self.dues = [(lane.waiting, lane.head.coarse - OUTPUT_LATENCY) for lane in parts.lanes]
        self.leaving = self.reset | reduce(or_, [lane.due for lane in parts.lanes])


class ReorderingSed(Module):
    """lanes: events that can be due in the same cycle. capacity: events beyond the wheel's reach, a
    power of two.

    `reset` (in): discards all events.
    """

    def __init__(self, timebase, channels, lanes, capacity, simulation, network="sys"):
        layout, self.data_width = _widths(channels, lanes)
        self.submodules.dispatcher = dispatcher = ReorderingDispatcher(
            timebase, channels, layout, lanes, capacity, self.data_width, simulation
        )
        inner = ResetInserter()(OutputNetwork(dispatcher.lanes, layout, channels))
        self.submodules.network = network = ClockDomainsRenamer(network)(inner)
        self.reset = Signal()
        self.roomy = dispatcher.roomy
        self.request, self.done, self.status = dispatcher.request, dispatcher.done, dispatcher.status
        busy_channel = Signal(16)
        self.errors = {
            "collision": (network.collision, network.collision_channel),
            "busy": (network.busy | dispatcher.late, busy_channel),
            "sequence_error": (dispatcher.sequence_error, dispatcher.sequence_error_channel),
        }

        # # #

        self.comb += [
            dispatcher.reset.eq(self.reset),
            network.reset.eq(self.reset),
            busy_channel.eq(Mux(dispatcher.late, dispatcher.late_channel, network.busy_channel)),
        ]
        self.leaving = self.reset | reduce(or_, [lane.valid for lane in dispatcher.lanes])
        if simulation:
            self.settled = dispatcher.settled & network.settled
            self.dues = dispatcher.dues
