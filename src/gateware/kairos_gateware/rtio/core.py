"""The RTIO core: joins dispatcher, lanes, network and inputs, and latches the asynchronous errors.

Latencies (cycles of 8 ns): a command is accepted if its coarse time is at least the counter + MIN_SLACK (7); pads
change in the very cycle in which the counter equals the event's coarse time; edges are stamped with the cycle they
were sampled in.

`reset` (one cycle or longer) empties all FIFOs, forgets the lanes' history and ends a waiting read; PHY states, the
counter and latched errors stay. `phy_reset` is the PHYs' own.
"""

from functools import reduce
from operator import and_

from migen import *
from migen.fhdl.bitcontainer import bits_for

from .cri import Cri
from .dispatcher import Dispatcher, event_layout
from .inputs import InputFifo, InputReader
from .lanes import Lane
from .network import OutputNetwork
from .timing import COARSE_BITS, OUTPUT_LATENCY, TimeBase

__all__ = ["AsyncError", "RtioCore", "LOG_WIDTH"]

LOG_WIDTH = 32
"""Data bits of the log channel: four characters, the first one in the most significant byte."""


class AsyncError(Module):
    """Sticky flag with the channel of the first occurrence since the flag was last cleared."""

    def __init__(self, pulse, channel):
        self.flag = Signal()
        self.channel = Signal(16)
        self.clear = Signal()

        # # #

        self.sync += [
            If(self.clear, self.flag.eq(0)),
            If(pulse, self.flag.eq(1), If(~self.flag | self.clear, self.channel.eq(channel))),
        ]


class _Sed(Module):
    """Scalable event dispatcher: everything between the CRI's output stream and the output links, one reset for all."""

    def __init__(self, timebase, channels, lanes, depth):
        outputs = [c.output for c in channels if c.output is not None]
        data_width = max(link.data_width for link in outputs)
        layout = event_layout(
            channel_width=bits_for(max(c.number for c in channels if c.output is not None)),
            address_width=max(link.address_width for link in outputs),
            data_width=data_width,
            # Twice the events that can be between dispatcher and network
            sequence_width=bits_for(lanes * (depth + 4)) + 1,
        )
        # A log channel's words do not reach the lanes, but the analyzer sees them
        self.data_width = max([data_width] + [LOG_WIDTH for c in channels if c.discard])
        self.submodules.dispatcher = dispatcher = Dispatcher(timebase, channels, layout, lanes, self.data_width)
        self.roomy = Signal()
        gate_time = timebase.shifted(OUTPUT_LATENCY)
        self.lanes = [Lane(layout, depth, gate_time) for _ in range(lanes)]
        self.submodules += self.lanes
        self.submodules.network = OutputNetwork(self.lanes, layout, channels)
        for i, lane in enumerate(self.lanes):
            self.comb += [
                dispatcher.lane_free[i].eq(lane.free),
                lane.we.eq(dispatcher.lane_we[i]),
                lane.write.raw_bits().eq(dispatcher.event.raw_bits()),
            ]
        self.sync += self.roomy.eq(reduce(and_, [lane.roomy for lane in self.lanes]))


class RtioCore(Module):
    """channels: list of `link.Channel`. lanes, depth: of the event dispatcher. input_depth: events per input channel.

    Attributes: `cri`, `roomy` (each lane has room for `lanes.ROOMY` more events), `timebase`, `reset`, and the
    `AsyncError`s `collision`, `busy`, `sequence_error`.
    For time skip in simulation: `settled` (nothing moves but time) and `next_due` (61 bits: latest coarse time to
    which the counter may be moved).
    """

    def __init__(self, channels, lanes=8, depth=128, input_depth=64, simulation=False):
        numbers = [c.number for c in channels]
        if len(set(numbers)) != len(numbers):
            raise ValueError("two RTIO channels have the same number")
        self.reset = Signal()
        self.submodules.timebase = timebase = TimeBase(loadable=simulation)
        self.submodules.sed = sed = ResetInserter()(_Sed(timebase, channels, lanes, depth))
        fifos = {}
        for channel in channels:
            if channel.input is not None:
                fifos[channel.number] = ResetInserter()(InputFifo(channel.input, timebase, input_depth))
        self.submodules += fifos.values()
        self.submodules.reader = reader = InputReader(timebase, fifos)
        self.cri = cri = Cri(sed.data_width)
        self.roomy = sed.roomy

        # # #

        dispatcher, network = sed.dispatcher, sed.network
        # During a reset no request is taken: it would vanish without an answer
        self.comb += [
            sed.reset.eq(self.reset),
            [fifo.reset.eq(self.reset) for fifo in fifos.values()],
            reader.abort.eq(self.reset),
            cri.output.connect(dispatcher.request, omit={"valid", "ready"}),
            dispatcher.request.valid.eq(cri.output.valid & ~self.reset),
            cri.output.ready.eq(dispatcher.request.ready & ~self.reset),
            cri.input.connect(reader.request),
            cri.output_done.eq(dispatcher.done),
            cri.output_status.eq(dispatcher.status),
            cri.input_done.eq(reader.done),
            cri.input_status.eq(reader.status),
            cri.response.done.eq(dispatcher.done | reader.done),
            cri.response.status.eq(Mux(dispatcher.done, dispatcher.status, reader.status)),
            cri.response.timestamp.eq(reader.timestamp),
            cri.response.data.eq(reader.data),
        ]
        self.submodules.collision = AsyncError(network.collision, network.collision_channel)
        self.submodules.busy = AsyncError(network.busy, network.busy_channel)
        self.submodules.sequence_error = AsyncError(dispatcher.sequence_error, dispatcher.sequence_error_channel)

        if simulation:
            self.settled = Signal()
            self.next_due = Signal(COARSE_BITS)
            parts = [lane.settled for lane in sed.lanes] + [fifo.settled for fifo in fifos.values()]
            parts += [c.settled for c in channels] + [network.settled, reader.settled, ~self.reset, ~dispatcher.done]
            self.comb += self.settled.eq(reduce(and_, parts))
            dues = [(lane.waiting, lane.head.coarse - OUTPUT_LATENCY) for lane in sed.lanes]
            dues.append((reader.waiting, reader.due))
            for channel in channels:
                if (running := channel.free_running) is not None:
                    dues.append((~running.limit[-1], timebase.coarse + running.limit))
                    self.comb += [
                        running.simulated.eq(1),
                        running.stb.eq(timebase.load),
                        running.cycles.eq(timebase.load_value - timebase.coarse),
                    ]
            self.comb += self.next_due.eq(self._minimum(dues))

    def _minimum(self, items):
        """Smallest of the values whose flag is set, all ones if none is: a tree of comparators."""
        level = []
        for flag, value in items:
            leaf = Signal(COARSE_BITS)
            self.comb += leaf.eq(Mux(flag, value, 2**COARSE_BITS - 1))
            level.append(leaf)
        while len(level) > 1:
            pairs, level = level, []
            for a, b in zip(pairs[::2], pairs[1::2], strict=False):
                smaller = Signal(COARSE_BITS)
                self.comb += smaller.eq(Mux(a < b, a, b))
                level.append(smaller)
            if len(pairs) % 2:
                level.append(pairs[-1])
        return level[0]
