"""Kernel initiator: fetches the kernel core's RTIO commands from a ring in its cache through the
accelerator coherency port.

Ring layout and protocol: docs/interfaces.md section 5. Timing of a one-word output on an idle
initiator; L is the port's read latency from address to first beat, beats are back to back, write
channels are ready:

    cycle   0        toggle of EVENTEVENTO at the input
            2        two synchroniser stages later: read address, accepted
            2 + L    beat 0: target, data word 0
            3 + L    beat 1: event time
            4 + L    beat 2: command, width, number; the event goes into the RTIO core in this cycle
            5 + L    status known; write address and data (one beat) are offered together

so a CPU that waits for each status, sees a write W cycles later and needs C cycles to the next
toggle, achieves one event per L + W + C + 7 cycles. A CPU that does not wait achieves one per 3
cycles (READS = 8 bursts in flight: L + 3 cycles for eight, at L = 29 one per 4).

Blocks: `bell.py` (the event line) → `fetch.py` (slots as a stream of beats) → `receiver.py` (beats
as requests) → the RTIO core → `reply.py` (statuses and pushed inputs, back to memory). They are
connected here.

A toggle requests that the next slot be read. Slots are read ahead, up to READS bursts at once, and
their beats are buffered in a FIFO when the core does not accept them at once: the port is never
blocked. Each burst has as many beats as the previous event (at least 3); when one turns out to be
too short, the bursts after it are discarded, the rest of the event is read, and then they are read
again. A slot whose number is not the expected one is ignored and counted in `lost`.

Status writes are coalesced: one is written whenever there is news and fewer than WRITES are in
flight.

With a pusher (`rtio/pusher.py`) the input events are sent over the same write channel, two beats
each, into rings of their own (section 5 too): address and first beat in the cycle in which the
entry is on offer, if the channel is free. Pushes and statuses alternate while both wait. An answer
to an input request follows its entry on the same channel.
"""

from migen import *

from .bell import DoorBell
from .fetch import SlotReader
from .port import AcpMaster
from .receiver import Receiver
from .reply import Permit, ReplyWriter

__all__ = ["RingInitiator"]


class RingInitiator(Module):
    """cri: of the RTIO core. roomy: every lane has room for SLOTS more events (always, if not given).
    pusher: `InputPusher`, if inputs are pushed. event_o: EVENTEVENTO, asynchronous. `event_i` (out):
    EVENTEVENTI, toggles after each write.

    Controls: `enable` (in): 0 clears all state, and numbers restart at 1; keep it until `busy` is 0. `base` (in,
    32 bits): address of the ring, a multiple of 4096. `input_base` (in, 32 bits): of the input rings, a multiple
    of INPUT_RINGS_BYTES; nothing is pushed while it is 0. `permit`: started for its `cycles`. `clear` (in):
    clears `lost`, `error` and the error in the status word.

    State: `busy` (out): something is in progress. `lost` (out, 16 bits): events that were not in their slot
    when it was read; saturates. `error` (out, 2 bits): bit 0 a read, bit 1 a write has failed; until `clear`.
    `settled` (out), for time skip: nothing changes except waiting for the core, or for an answer of the
    port. `soon`: an output may be offered in this cycle.
    """

    def __init__(self, cri, roomy=None, pusher=None):
        self.pusher = pusher
        self.bus = bus = AcpMaster()
        self.submodules.bell = bell = DoorBell()
        self.submodules.reader = reader = SlotReader(bus)
        self.submodules.receiver = receiver = Receiver(reader)
        self.submodules.replies = replies = ReplyWriter(
            bus, receiver, cri.response, C(1) if roomy is None else roomy, None if pusher is None else pusher.push
        )
        self.submodules.permit = permit = Permit()
        self.event_o = bell.event
        self.event_i = Signal()
        self.enable = Signal()
        self.base = Signal(32)
        self.input_base = Signal(32)
        self.busy = Signal()
        self.lost = Signal(16)
        self.error = Signal(2)
        self.clear = Signal()
        self.settled = Signal()
        self.soon = receiver.soon

        # # #

        for block in (reader, receiver, replies, permit):
            self.comb += block.enable.eq(self.enable)
        self.comb += [
            reader.toggle.eq(bell.toggle & self.enable),
            reader.base.eq(self.base),
            replies.base.eq(self.base),
            replies.input_base.eq(self.input_base),
            replies.clear.eq(self.clear),
            replies.permit.eq(permit.running),
            replies.asking.eq(receiver.asks & replies.quiet),
        ]
        if pusher is not None:
            self.comb += pusher.enable.eq(self.enable & (self.input_base != 0))

        # The core's turn: an input's answer must not meet an earlier status in transit
        request = receiver.request
        waiting = Signal()  # for the core's answer
        taken = Signal()
        self.comb += [
            cri.output.valid.eq(request.valid & ~request.is_input),
            cri.output.channel.eq(request.target[8:]),
            cri.output.address.eq(request.target[:8]),
            cri.output.timestamp.eq(request.time),
            cri.output.data.eq(request.data[: len(cri.output.data)]),
            cri.input.valid.eq(request.valid & request.is_input & replies.quiet),
            cri.input.channel.eq(request.target[8:]),
            cri.input.timeout.eq(request.time),
            cri.input.number.eq(request.data[:16]),
            taken.eq((cri.output.valid & cri.output.ready) | (cri.input.valid & cri.input.ready)),
            request.ready.eq(taken),
            receiver.busy.eq(waiting),
            replies.waiting.eq(waiting),
        ]
        self.sync += [
            If(cri.response.done, waiting.eq(0)),
            If(taken, waiting.eq(1)),
            If(~self.enable, waiting.eq(0)),
        ]

        # State for the registers
        self.sync += [
            If(replies.written, self.event_i.eq(~self.event_i)),
            If(receiver.missed & (self.lost != 0xFFFF), self.lost.eq(self.lost + 1)),
            self.error.eq((self.error | Cat(receiver.failed_beat, replies.bad_write)) & Replicate(~self.clear, 2)),
            If(self.clear, self.lost.eq(0)),
        ]

        # Quiescence
        port_rests, resting = Signal(), Signal()
        port_waits, calm = Signal(), Signal()  # the same, or nothing changes before the memory answers
        stuck = Signal()  # the receiver waits for the core
        self.comb += [
            port_rests.eq(reader.idle & replies.idle & ~reader.first),
            calm.eq(~reader.beats.valid & ~receiver.holding & ~waiting & ~receiver.unreadable),
            resting.eq(port_rests & calm),
            port_waits.eq(port_rests | (reader.waits & replies.waits)),
            stuck.eq((receiver.holding & ~taken) | (waiting & receiver.is_input & ~cri.response.done)),
            self.busy.eq(~resting | ~bell.still | (0 if pusher is None else pusher.busy)),
            self.settled.eq(bell.still & port_waits & (calm | stuck) & ~replies.permit_changed),
        ]
