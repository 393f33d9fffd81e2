"""The analyzer: tap and writer, with their common controls."""

from migen import *

from .tap import Tap
from .writer import Writer

__all__ = ["Analyzer"]


class Analyzer(Module):
    """cri: of the RTIO core, observed. coarse: the counter. pusher: of its inputs, if they are
    pushed. `bus`: `hp.HpWrite`.

    `enable` rising: recording starts at the beginning of the ring, and counters and errors are cleared; it
    must not rise while `busy` (out). `enable` falling: a message "stopped" is appended; `busy` falls when
    everything is in memory. `pack`, `base`, `last`, `units`, `messages`, `bus_error`: see `Writer`.
    `overflow` (out): messages were lost. `throttle` (out): high when DMA should wait to avoid losing
    messages. `settled` (out, for time skip): nothing changes, except that a response may arrive.
    """

    def __init__(self, cri, coarse, pusher=None, depth=512):
        self.submodules.tap = tap = Tap(cri, coarse, pusher)
        self.submodules.writer = writer = Writer(depth)
        self.bus = writer.bus
        self.enable = tap.enable
        self.busy = Signal()
        self.overflow = Signal()
        self.throttle = Signal()
        self.settled = Signal()
        self.pack, self.base, self.last = writer.pack, writer.base, writer.last
        self.units, self.messages, self.bus_error = writer.units, writer.messages, writer.bus_error

        # # #

        before = Signal()
        self.sync += [
            before.eq(self.enable),
            If(writer.restart, self.overflow.eq(0)).Elif(writer.lost | tap.lost, self.overflow.eq(1)),
        ]
        self.comb += [
            writer.valid.eq(tap.valid),
            writer.message.raw_bits().eq(tap.message.raw_bits()),
            writer.restart.eq(self.enable & ~before),
            self.busy.eq(self.enable | before | ~tap.idle | ~writer.idle),
            self.throttle.eq(self.enable & ~writer.room),
            self.settled.eq(tap.idle & writer.waits & (self.enable == before)),
        ]
