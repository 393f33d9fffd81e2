"""The pulse core's channels from the stream to the outputs of the engines, their trigger, and
errors. Clock domain sys.

A trigger starts every armed engine. One that arrives before all channels of `trigger_channels` are
armed is an error, or with `trigger_strict` is remembered until they are.
"""

from functools import reduce
from operator import and_, or_

from migen import *

from ..contracts import pulse as facts
from .channel import Channel
from .demultiplexer import Demultiplexer
from .sequencer import Sequencer

__all__ = ["Sequencing"]


class Sequencing(Module):
    """channels: number of channels. segment_fifo, input_fifo: depths. tables: address bits of the
    tables and format of the words, as the `Sequencer` takes them.

    valid, ready, word: the stream. `trigger` (in): pulse. `result` (in, 4 bits), `result_valid` (in): of a
    measurement, for the channels of `result_channels` (in, `channels` bits). `armed`, `running` (out,
    `channels` bits): one bit for each channel. `loaded` (out): all channels are. `settled` (out): nothing
    changes without an external input. `errors` (out, 9 bits): bits of `facts.Error`, sticky until `clear`
    (in, 9 bits) is high in the same bits; `underrun_parameters`: of each channel, likewise. `first_cycles`:
    `cycle` (out, 48 bits), the count of cycles, at each channel's first underrun since `clear`. `skip`
    (in): simulation skips time, the next cycle is `skipped` (in, 48 bits) later. `feeding`: the modules
    that feed segments to engines; without `feeds` (out) they do not change, except for effects within two
    cycles.

    `trigger_strict` (in): an early trigger waits until all channels are armed; `trigger_channels` (in,
    `channels` bits): those that a trigger starts. `hold` (in): amplitudes are held in an underrun.
    `misalign_limit` (in, 32 bits): cycles by which the engines of a channel may differ. `branch_timeout`
    (in, 32 bits): cycles until a branch continues without a result, 0: never.
    """

    def __init__(self, channels=facts.CHANNELS, segment_fifo=facts.SEGMENT_FIFO, input_fifo=facts.INPUT_FIFO, **tables):
        self.trigger, self.trigger_strict = Signal(), Signal()
        self.trigger_channels = Signal(channels, reset=2**channels - 1)
        self.hold = Signal()
        self.misalign_limit, self.branch_timeout = Signal(32), Signal(32)
        self.result, self.result_valid = Signal(facts.BRANCH_STATE_BITS), Signal()
        self.result_channels = Signal(channels, reset=2**channels - 1)
        self.armed, self.running = Signal(channels), Signal(channels)
        self.loaded, self.settled, self.feeds = Signal(), Signal(), Signal()
        self.errors, self.clear = Signal(max(facts.Error).bit_length()), Signal(max(facts.Error).bit_length())
        self.cycle = Signal(facts.CYCLE_COUNTER_BITS)
        self.skip, self.skipped = Signal(), Signal(facts.CYCLE_COUNTER_BITS)
        self.underrun_parameters = [Signal(facts.PARAMETERS, name=f"underrun_{c}") for c in range(channels)]
        self.first_cycles = [Signal(facts.CYCLE_COUNTER_BITS, name=f"first_cycle_{c}") for c in range(channels)]

        # # #

        self.submodules.demultiplexer = demultiplexer = Demultiplexer(channels, input_fifo)
        self.valid, self.ready, self.word = demultiplexer.valid, demultiplexer.ready, demultiplexer.word
        self.channels = [Channel(segment_fifo) for _ in range(channels)]
        self.sequencers = [Sequencer([e.queue for e in channel.engines], **tables) for channel in self.channels]
        self.submodules += [*self.channels, *self.sequencers]
        self.table_bits = self.sequencers[0].table_bits
        for c, (channel, sequencer) in enumerate(zip(self.channels, self.sequencers, strict=True)):
            fifo = demultiplexer.fifos[c]
            self.comb += [
                sequencer.valid.eq(fifo.readable),
                sequencer.word.eq(fifo.dout),
                fifo.re.eq(sequencer.ready),
                sequencer.timeout.eq(self.branch_timeout),
                sequencer.result.eq(self.result),
                sequencer.result_valid.eq(self.result_valid & self.result_channels[c]),
                channel.upcoming.eq(sequencer.upcoming),
                channel.hold.eq(self.hold),
                channel.misalign_limit.eq(self.misalign_limit),
                self.armed[c].eq(channel.armed),
                self.running[c].eq(channel.running),
            ]
        self.comb += self.loaded.eq(reduce(and_, [channel.loaded for channel in self.channels]))
        moving = [~part.settled for part in [*self.channels, *self.sequencers]] + [
            fifo.fifo.readable & ~fifo.readable for fifo in demultiplexer.fifos
        ]
        self.comb += self.settled.eq(~((self.valid & self.ready) | reduce(or_, moving)))
        queues = [engine.queue for channel in self.channels for engine in channel.engines]
        self.feeding = [demultiplexer, *self.sequencers, *queues]
        moves = [*moving[len(self.channels) :], *[sequencer.waiting for sequencer in self.sequencers]]
        moves += [queue.we | queue.take | queue.arriving for queue in queues]
        self.comb += self.feeds.eq(self.valid | self.result_valid | reduce(or_, moves))
        early = self._start()
        self._collect(early)

    def _start(self):
        """Triggers the channels. Returns a signal that is high in a cycle with an early trigger."""
        remembered, ready = Signal(), Signal()
        wanted = self.trigger | remembered
        self.comb += ready.eq((self.trigger_channels & ~self.armed) == 0)
        for channel in self.channels:
            self.comb += channel.trigger.eq(Mux(self.trigger_strict, wanted & ready, self.trigger))
        self.sync += remembered.eq(self.trigger_strict & wanted & ~ready)
        return self.trigger & ~ready & ~self.trigger_strict

    def _collect(self, early):
        """Collects sticky errors, and the time of the first."""
        seen = {facts.Error.TRIGGER_EARLY: [early]}
        for name in ["mode", "count", "address", "branch_timeout"]:
            seen[facts.Error[name.upper()]] = [sequencer.errors[name] for sequencer in self.sequencers]
        seen[facts.Error.TAU0] = [channel.tau0 for channel in self.channels]
        seen[facts.Error.MISALIGN] = [channel.misalign for channel in self.channels]
        seen[facts.Error.UNDERRUN] = [channel.dry != 0 for channel in self.channels]
        self.sync += self.cycle.eq(self.cycle + Mux(self.skip, self.skipped, 1))
        for error, signals in seen.items():
            bit = error.bit_length() - 1
            self.sync += self.errors[bit].eq((self.errors[bit] & ~self.clear[bit]) | reduce(or_, signals))
        cleared = self.clear[facts.Error.UNDERRUN.bit_length() - 1]
        for channel, parameters, first in zip(self.channels, self.underrun_parameters, self.first_cycles, strict=True):
            stopped, known = (channel.dry != 0) | channel.misalign, Signal()
            self.sync += [
                parameters.eq(Mux(cleared, 0, parameters) | channel.dry),
                If(stopped & (~known | cleared), first.eq(self.cycle), known.eq(1)).Elif(cleared, known.eq(0)),
            ]
