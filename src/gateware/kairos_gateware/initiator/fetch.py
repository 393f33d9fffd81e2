"""Slots of the ring, read ahead through the port: a stream of beats.

Up to READS bursts are in flight. Each requests `first_beats` beats, which follows the previous
event. Beats that the receiver does not accept at once wait in a FIFO with room for all requested
beats, so the port is never blocked.

When a burst ends before its event does, the receiver asserts `cut`: the rest of the event is read
by a burst of its own, and everything read ahead is discarded (`flush`, one cycle later) and read
again. When a slot does not hold the expected number, it asserts `missed`: the slot is read again
with the next toggle.

    cycle 0        toggle: read address on offer in the same cycle
          L        first beat in `beats`, in the cycle in which it is on the bus

Throughput: one beat per cycle. Clock domain sys; while `enable` is 0 all state is cleared.
"""

from litex.soc.interconnect import stream
from migen import *
from migen.genlib.fifo import SyncFIFO

from ..contracts.initiator import SLOTS

__all__ = ["FIRST_BEATS", "MAX_BEATS", "READS", "BeatBuffer", "SlotReader"]

FIRST_BEATS = 3
"""Beats of the shortest request."""
MAX_BEATS = 10
"""Beats of the longest request, an output of 16 words."""
READS = 8
"""Maximum number of bursts in flight. A port that takes fewer stalls the addresses of the
others."""
BUFFER_BEATS = 64


class BeatBuffer(Module):
    """Beats directly from the bus, or through a FIFO if the receiver could not accept them at once. `beats`
    (out): stream of {word, failed} whose `last` is that of the burst. Latency: none.

    `enable` (in): 0 discards everything.
    """

    def __init__(self, bus):
        self.enable = Signal()
        self.beats = beats = stream.Endpoint([("word", 64), ("failed", 1)])

        # # #

        got = Signal()
        stored = Signal()  # the FIFO is not empty, from a register
        direct = Signal()
        beat = Signal(66)
        self.submodules.fifo = fifo = ResetInserter()(SyncFIFO(66, BUFFER_BEATS))
        incoming = Cat(bus.rdata, bus.rlast, bus.rresp != 0)
        self.comb += [
            bus.rready.eq(1),
            got.eq(bus.rvalid & bus.rready),
            direct.eq(~stored),
            beat.eq(Mux(direct, incoming, fifo.dout)),
            beats.valid.eq(stored | got),
            Cat(beats.word, beats.last, beats.failed).eq(beat),
            fifo.din.eq(incoming),
            fifo.we.eq(got & ~(direct & beats.ready)),
            fifo.re.eq(beats.ready),
            fifo.reset.eq(~self.enable),
        ]
        self.sync += stored.eq(self.enable & (fifo.we | (stored & ~(fifo.re & (fifo.level == 1)))))


class SlotReader(Module):
    """bus: `AcpMaster`, of which the read channels are driven.

    `enable` (in): 0 clears all state, and requests nothing. `base` (in, 32 bits): address of the ring.
    `toggle` (in): the bell. `beats`: stream of {word, failed}; `last` ends a burst. From the receiver:
    `expected` (in, 16 bits), the number of its current event, and `index` (in, 4 bits), that of its current
    beat; `first_beats` (in, 4 bits): beats that are read of an event at first; `cut` (in): for a cycle,
    that was too few, and the `rest` (in, 4 bits) is to be read; `missed` (in): for a cycle, the slot has
    another number, so the event is to be read again. To it: `flush` (out): bursts of later events are
    dropped; `others` (out, 5 bits), bursts after the current one, of which `first` (out) is requested in
    this cycle. `idle` (out): no burst is requested or in flight; `waits` (out): nothing changes before a
    beat arrives, if one is due.
    """

    def __init__(self, bus):
        self.enable = Signal()
        self.base = Signal(32)
        self.toggle = Signal()
        self.expected = Signal(16)
        self.index = Signal(4)
        self.first_beats = Signal(4)
        self.cut, self.rest = Signal(), Signal(4)
        self.missed = Signal()
        self.flush = Signal()
        self.others = Signal(max=SLOTS * 2)
        self.first = Signal()
        self.idle, self.waits = Signal(), Signal()

        # # #

        self.submodules.buffer = buffer = BeatBuffer(bus)
        self.beats = beats = buffer.beats
        number = Signal(16, reset=1)  # of the next slot to be read
        bells = Signal(max=SLOTS * 2)  # toggles for which no read has been requested
        arriving = Signal(max=READS + 2)  # bursts requested that have not arrived completely
        reserved = Signal(max=BUFFER_BEATS + 1)  # beats requested that have not been consumed
        second = Signal()  # the rest of an event is to be requested
        rest = Signal(4)
        request = Signal()  # a burst is requested in this cycle
        length = Signal(4)
        address_wait = Signal()
        address_hold, length_hold = Signal(32), Signal(4)
        done_burst = Signal()
        consume = Signal()
        self.comb += [
            buffer.enable.eq(self.enable),
            self.others.eq(number - self.expected - 1),
            self.first.eq(
                (self.toggle | (bells != 0))
                & self.enable
                & ~self.flush
                & ~second
                & ~address_wait
                & (arriving < READS)
                & (reserved <= BUFFER_BEATS - MAX_BEATS)
            ),
            request.eq(self.first | (second & ~address_wait)),
            bus.arvalid.eq(request | address_wait),
            length.eq(Mux(second, rest, self.first_beats)),
            bus.araddr[12:].eq(self.base[12:]),
            If(second, bus.araddr[:12].eq(Cat(C(0, 3), self.index, self.expected[:4]))).Else(
                bus.araddr[:12].eq(Cat(C(0, 7), number[:4]))
            ),
            bus.arlen.eq(length - 1),
            If(address_wait, bus.araddr.eq(address_hold), bus.arlen.eq(length_hold)),
            done_burst.eq(bus.rvalid & bus.rready & bus.rlast),
            consume.eq(beats.valid & beats.ready),
            self.idle.eq((arriving == 0) & ~address_wait & ~second & ~self.flush),
            self.waits.eq(~bus.arvalid & ~bus.rvalid & ~second & ~self.flush),
        ]
        self.sync += [
            address_wait.eq(bus.arvalid & ~bus.arready),
            If(~address_wait, address_hold.eq(bus.araddr), length_hold.eq(bus.arlen)),
            arriving.eq(arriving + request - done_burst),
            reserved.eq(reserved + Mux(request, length, 0) - consume),
            bells.eq(bells + self.toggle - self.first + Mux(self.flush, self.others, 0)),
            If(self.first, number.eq(number + 1)),
            If(self.flush, number.eq(self.expected + 1)),
            If(second & ~address_wait, second.eq(0)),
            self.flush.eq(self.cut),
            If(self.cut, second.eq(1), rest.eq(self.rest)),
            If(self.missed, number.eq(self.expected), bells.eq(bells + self.toggle + self.others)),
            If(~self.enable, bells.eq(0), number.eq(1), reserved.eq(0), self.flush.eq(0), second.eq(0)),
        ]
