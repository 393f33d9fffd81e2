"""The RTIO core: joins event dispatch and inputs, and latches the asynchronous errors.

Latencies (cycles of 8 ns): a command is accepted if its coarse time is at least the counter +
MIN_SLACK (7); pads change in the cycle in which the counter equals the event's coarse time; edges
are stamped with the cycle in which they were sampled.

`reset` (one cycle or longer) empties all FIFOs, clears the lanes' history and ends a waiting read;
PHY states, the counter and latched errors are kept. `phy_reset` is the PHYs' own.
"""

from functools import reduce
from itertools import count
from operator import and_, or_

from migen import *

from .cri import Cri
from .inputs import InputFifo, InputReader
from .pusher import InputPusher, MarkingFifo
from .sed import LOG_WIDTH, LaneSed, ReorderingSed
from .timing import COARSE_BITS, TimeBase

__all__ = ["AsyncError", "DEPTH", "RtioCore", "LOG_WIDTH"]

DEPTH = 128
"""Default number of events that a lane holds."""


class AsyncError(Module):
    """Sticky `flag` (out) with the channel of the first occurrence since the flag was last cleared.

    `channel` (out, 24 bits): of that occurrence. `clear` (in): clears the flag.
    """

    def __init__(self, pulse, channel):
        self.flag = Signal()
        self.channel = Signal(24)
        self.clear = Signal()

        # # #

        self.sync += [
            If(self.clear, self.flag.eq(0)),
            If(pulse, self.flag.eq(1), If(~self.flag | self.clear, self.channel.eq(channel))),
        ]


class RtioCore(Module):
    """channels: list of `link.Channel`. lanes, depth: of the event dispatcher. reorder: 0, or the
    number of events that may wait beyond the wheel's reach (`sed.ReorderingSed`; `depth` is then
    unused). input_depth: events per input channel. push_inputs: `pusher` (`InputPusher`) writes
    events to memory, and reads only wait for that; otherwise `pusher` is None. loadable: the
    counter can be set. foreign: errors of other boards, which also set the flags, each
    {"collision", "busy", "sequence_error": (pulse, channel of 24 bits)}. timebase: a `TimeBase` for
    the core, which must not be a submodule elsewhere; by default the core creates its own. network:
    a clock domain (`sed`); inputs: likewise, of the logic for pushed inputs.

    Attributes: `cri`, `roomy` (there is room for `lanes.ROOMY` more events), `outputs` (channels 0 to this
    - 1 accept outputs), `timebase`, `reset`, `abort_input` (in, ends a waiting read like a timeout), and
    the `AsyncError`s `collision`, `busy`, `sequence_error`; `errors`: their sources, {name: (pulse,
    channel)}. For time skip in simulation: `settled` (out, nothing changes but time) and `next_due` (out,
    61 bits: latest coarse time to which the counter may be advanced); `leaving` (`sed`),
    `entering`: the logic for pushed inputs must be clocked, also in the 4 following cycles.
    """

    def __init__(
        self,
        channels,
        lanes=8,
        depth=DEPTH,
        input_depth=64,
        push_inputs=False,
        simulation=False,
        reorder=0,
        loadable=False,
        foreign=(),
        timebase=None,
        network="sys",
        inputs="sys",
    ):
        numbers = [c.number for c in channels]
        if len(set(numbers)) != len(numbers):
            raise ValueError("two RTIO channels have the same number")
        self.reset = Signal()
        self.abort_input = Signal()
        self.submodules.timebase = timebase = timebase or TimeBase(loadable=simulation or loadable)
        if reorder:
            sed = ReorderingSed(timebase, channels, lanes, reorder, simulation, network)
        else:
            sed = LaneSed(timebase, channels, lanes, depth, network)
        self.submodules.sed = sed
        fifos = {}
        fifo_class, reader_class = (MarkingFifo, InputPusher) if push_inputs else (InputFifo, InputReader)
        for channel in channels:
            if channel.input is not None:
                fifo = ResetInserter()(fifo_class(channel.input, timebase, input_depth))
                fifos[channel.number] = ClockDomainsRenamer(inputs)(fifo) if push_inputs else fifo
        self.submodules += fifos.values()
        self.submodules.reader = reader = reader_class(timebase, fifos)
        self.pusher = ClockDomainsRenamer(inputs)(reader) if push_inputs else None
        self.cri = cri = Cri(sed.data_width)
        self.roomy = sed.roomy
        takes_outputs = {channel.number for channel in channels if channel.output is not None or channel.discard}
        self.outputs = next(number for number in count() if number not in takes_outputs)

        # # #

        # During a reset no request is accepted: it would be lost without an answer
        self.comb += [
            sed.reset.eq(self.reset),
            [fifo.reset.eq(self.reset) for fifo in fifos.values()],
            reader.abort.eq(self.reset | self.abort_input),
            [pusher.reset.eq(self.reset) for pusher in [self.pusher] if pusher is not None],
            cri.output.connect(sed.request, omit={"valid", "ready"}),
            sed.request.valid.eq(cri.output.valid & ~self.reset),
            cri.output.ready.eq(sed.request.ready & ~self.reset),
            cri.input.connect(reader.request),
            cri.output_done.eq(sed.done),
            cri.output_status.eq(sed.status),
            cri.input_done.eq(reader.done),
            cri.input_status.eq(reader.status),
            cri.response.done.eq(sed.done | reader.done),
            cri.response.status.eq(Mux(sed.done, sed.status, reader.status)),
            cri.response.timestamp.eq(reader.timestamp),
            cri.response.data.eq(reader.data),
        ]
        self.errors = dict(sed.errors)
        for name, (pulse, number) in sed.errors.items():
            for other in foreign:
                # If both occur in one cycle, the channel of this board is reported
                pulse, number = pulse | other[name][0], Mux(pulse, number, other[name][1])
            setattr(self.submodules, name, AsyncError(pulse, number))

        if simulation:
            self.leaving = sed.leaving
            self.entering = self.reset
            if push_inputs:
                self.entering |= reader.moving | reduce(or_, [~fifo.settled | fifo.re for fifo in fifos.values()])
            self.settled = Signal()
            self.next_due = Signal(COARSE_BITS)
            parts = [fifo.settled for fifo in fifos.values()] + [c.settled for c in channels]
            parts += [sed.settled, reader.settled, ~self.reset]
            self.comb += self.settled.eq(reduce(and_, parts))
            dues = [*sed.dues, (reader.waiting, reader.due)]
            self.waves = []
            for channel in channels:
                if (running := channel.free_running) is not None:
                    self.waves += [] if running.wave is None else [running.wave]
                    connected, due = running.skip_with(timebase)
                    self.comb += connected
                    dues += [] if due is None else [due]
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
