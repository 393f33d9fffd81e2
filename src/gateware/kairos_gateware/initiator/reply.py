"""Writes to the processor's memory: status words, and the entries of pushed inputs, over one write
channel.

Statuses are coalesced: one is written whenever there is news and fewer than WRITES are in flight.
Address and data are offered together with the news, not ahead, because a request may wait for long.
An answer to an input has two beats, the event's time first; one to an output has one. A failed
posted output stays in the status word until `clear`. The begin and the end of a permit are news
too; they wait while the core works on an input, whose answer has two beats.

An entry of an input ring (`InputPusher.push`) has two beats of its own. Entries and statuses
alternate while both wait; an answer to an input request follows its entry on the same channel.

    cycle 0   news: address and first beat are on offer in the same cycle, if the channel is free

Clock domain sys; while `enable` is 0 anything unwritten is discarded.
"""

from migen import *

from ..contracts.initiator import (
    CREDIT,
    INPUT_CHANNELS,
    INPUT_ENTRIES,
    INPUT_ENTRY_BYTES,
    NUMBER_BITS,
    POSTED_WORD,
    REPLY,
)
from ..rtio.cri import OUTPUT_UNREACHABLE
from ..rtio.link import FreeRunning
from ..rtio.timing import COARSE_BITS

__all__ = ["INPUT_RINGS_BYTES", "WRITES", "Permit", "ReplyWriter", "StatusWord"]

WRITES = 4
"""Maximum number of writes in flight."""
INPUT_RINGS_BYTES = INPUT_CHANNELS * INPUT_ENTRIES * INPUT_ENTRY_BYTES
ENTRY_BITS, RINGS_BITS = log2_int(INPUT_ENTRIES), log2_int(INPUT_RINGS_BYTES)


class Permit(Module):
    """`running` (out) for `cycles` (in, 16 bits) after `start` (in): during that time outputs may be posted
    at first sight. It ends at once when `enable` (in) falls, or with 0 cycles. `free_running`: for time
    skip."""

    def __init__(self):
        self.enable = Signal()
        self.start = Signal()
        self.cycles = Signal(16)
        self.running = Signal()
        self.free_running = skip = FreeRunning()

        # # #

        left = Signal(16)
        self.comb += [self.running.eq(left != 0), skip.limit.eq(Mux(self.running, left - 1, 2**COARSE_BITS - 1))]
        self.sync += [
            If(left != 0, left.eq(Mux(skip.stb, Mux(skip.cycles < left, left - skip.cycles, 0), left - 1))),
            If(self.start, left.eq(self.cycles)),
            If(~self.enable, left.eq(0)),
        ]


class PermitReport(Module):
    """Begin and end of a permit, as long as no status word says so. permit: it runs. reply: a status
    word is written anyway. enable: 0 clears all state.

    `hold` (in): no status may begin. `changed` (out): for a cycle, a status word is to be written.
    """

    def __init__(self, permit, reply, enable):
        self.hold, self.changed = Signal(), Signal()

        # # #

        reported = Signal()  # as in the newest word
        self.comb += self.changed.eq((permit != reported) & ~self.hold & ~reply & enable)
        self.sync += [
            If(reply | self.changed, reported.eq(permit)),
            If(~enable, reported.eq(0)),
        ]


class StatusWord(Module):
    """The status word and the preceding beat. receiver: identifies the request; `status` (in, 4 bits),
    `data` (in, 32 bits): the core's answer to it; `answered` (in): valid in this cycle. The first failed
    posted output is reported until `clear` (in). Without an answer, `word` (out, 64 bits) is that of the
    newest one with the present flags; its upper half is then invalid.

    `permit` (in): a permit runs. `enable` (in): 0 clears all state.
    """

    def __init__(self, receiver, roomy, has_input_rings):
        self.answered = Signal()
        self.status = Signal(4)
        self.data = Signal(32)
        self.permit = Signal()
        self.clear = Signal()
        self.enable = Signal()
        self.word = Signal(64)

        # # #

        error, error_number = Signal(4), Signal(16)
        failing, failed = Signal(), Signal()
        attention = Signal()
        limit, status = Signal(NUMBER_BITS, reset=CREDIT), Signal(4)  # of the newest answer
        now_limit, now_status = Signal(NUMBER_BITS), Signal(4)
        flags = Signal(16)
        known = Cat(error, C(0, 12), error_number)
        first = Mux(failing, Cat(self.status, C(0, 12), receiver.number), 0)
        of_output = Mux(error != 0, known, first)
        # Where inputs are pushed, their data is in the entries.
        detail = of_output if has_input_rings else Mux(receiver.is_input, self.data, of_output)
        self.comb += [
            If(self.answered, now_limit.eq(receiver.limit), now_status.eq(self.status)).Else(
                now_limit.eq(limit), now_status.eq(status)
            ),
            failing.eq(self.answered & receiver.posted & (self.status != 0)),
            failed.eq(failing | (error != 0)),
            attention.eq(~roomy | failed),
            flags.eq(Cat(now_status, C(0, 1), failed, self.permit)),
            If((now_status == 0) & (error == 0) & self.permit, flags.eq(POSTED_WORD >> 16)),
            self.word.eq(Cat(attention, now_limit, flags, detail)),
        ]
        self.sync += [
            If(self.answered, limit.eq(receiver.limit), status.eq(self.status)),
            If(failing & (error == 0), error.eq(self.status), error_number.eq(receiver.number)),
            If(self.clear | ~self.enable, error.eq(0)),
            If(~self.enable, limit.eq(CREDIT), status.eq(0)),
        ]


class ReplyWriter(Module):
    """bus: `AcpMaster`, of which the write channels are driven. receiver: `Receiver`. response: of
    the core. entries: stream of pushed entries, or None.

    `enable` (in): 0 clears all state. `base` (in, 32 bits): address of the ring; `input_base` (in, 32
    bits): of the input rings. `clear` (in): the error in the status word is cleared. `permit` (in): it
    runs; `permit_changed` (out): it has begun or ended, and is reported from the next cycle on. `waiting`
    (in): the core works on a request whose answer is due; `asking` (in): an input is, or may be, on offer
    to the core. `quiet` (out): a request for an input may begin, since no earlier status is in transit.
    `written` (out): EVENTEVENTI toggles; `bad_write` (out): for a cycle, the port has answered a write with
    an error. `idle` (out): nothing is in transit; `waits` (out): nothing changes before a response arrives,
    if one is due.
    """

    def __init__(self, bus, receiver, response, roomy, entries=None):
        self.enable, self.clear = Signal(), Signal()
        self.base, self.input_base = Signal(32), Signal(32)
        self.permit = Signal()
        self.permit_changed = Signal()
        self.waiting = Signal()
        self.asking = Signal()
        self.quiet = Signal()
        self.written = Signal()
        self.bad_write = Signal()
        self.idle, self.waits = Signal(), Signal()

        # # #

        self.submodules.status = status = StatusWord(receiver, roomy, entries is not None)
        unreadable = receiver.unreadable
        reply = Signal()
        fresh = Signal()  # news that have not been written
        kept, frozen = Signal(64), Signal(64)  # the newest word; the one on offer, which must not change
        reply_time, reply_input = Signal(64), Signal()
        two_beats, open_two_beats = Signal(), Signal()  # of the open write, or else of the next one
        writes = Signal(max=WRITES + 2)
        address_open = Signal()  # offered, not accepted
        data_open = Signal()  # address accepted, data not
        started = Signal()
        second = Signal()  # the second of two beats
        free, send = Signal(), Signal()
        push = Signal()  # a pushed entry begins in this cycle
        pushing, pushed = Signal(), Signal()  # a pushed entry has the channel, or had it in the previous cycle
        permit_changed = self.permit_changed
        self.submodules.permit_report = permit_report = PermitReport(self.permit, reply, self.enable)
        beat_sent = bus.wvalid & bus.wready
        self.comb += [
            reply.eq(((response.done & self.waiting) | unreadable) & self.enable),
            status.enable.eq(self.enable),
            status.clear.eq(self.clear),
            status.permit.eq(self.permit),
            permit_report.hold.eq(self.asking | (self.waiting & receiver.is_input)),
            permit_changed.eq(permit_report.changed),
            status.answered.eq(reply),
            status.status.eq(Mux(unreadable, OUTPUT_UNREACHABLE, response.status)),
            status.data.eq(Mux(unreadable, 0, response.data)),
            two_beats.eq(Mux(free, Mux(reply, receiver.is_input, reply_input), open_two_beats)),
            self.quiet.eq(~fresh & (free | pushed)),
            free.eq(~address_open & ~data_open),
            send.eq((reply | fresh) & free & ~push & (writes < WRITES)),
            bus.awvalid.eq(send | push | address_open),
            bus.awaddr.eq(Cat(C(0, 3), ~two_beats, C(REPLY >> 4, 8), self.base[12:])),
            bus.awlen.eq(two_beats | pushing),
            bus.wvalid.eq(data_open | (bus.awvalid & bus.awready)),
            bus.wstrb.eq(0xFF),
            bus.wlast.eq(~(two_beats | pushing) | second),
            If(second, bus.wdata.eq(kept))
            .Elif(started, bus.wdata.eq(frozen))
            .Elif(two_beats, bus.wdata.eq(Mux(reply & receiver.is_input, response.timestamp, reply_time)))
            .Else(bus.wdata.eq(Mux(reply, status.word, kept))),
            bus.bready.eq(1),
            If(free, pushing.eq(push)).Else(pushing.eq(pushed)),
            self.written.eq(bus.bvalid & bus.bready),
            self.bad_write.eq(self.written & (bus.bresp != 0)),
            self.idle.eq(~bus.awvalid & ~bus.wvalid & (writes == 0) & ~fresh),
            self.waits.eq(~bus.awvalid & ~bus.wvalid & ~bus.bvalid & ~fresh & ~pushing & ~pushed),
        ]
        self.sync += [
            pushed.eq(pushing),
            If(
                reply,
                fresh.eq(1),
                reply_input.eq(receiver.is_input),
                If(receiver.is_input, reply_time.eq(response.timestamp)),
                kept.eq(status.word),
            ),
            If(free, open_two_beats.eq(two_beats)),
            If(permit_changed, kept[:32].eq(status.word[:32]), If(~fresh, reply_input.eq(0))),
            address_open.eq(bus.awvalid & ~bus.awready),
            If(bus.awvalid & bus.awready, data_open.eq(1)),
            If(bus.wvalid & ~started & ~pushing, started.eq(1), fresh.eq(0), frozen.eq(bus.wdata)),
            If(
                beat_sent,
                If((two_beats | pushing) & ~second, second.eq(1)).Else(second.eq(0), data_open.eq(0), started.eq(0)),
            ),
            writes.eq(writes + (send | push) - self.written),
            If(permit_changed, fresh.eq(1)),
            If(~self.enable, fresh.eq(0)),
        ]
        if entries is not None:
            flags = [~entries.lost, entries.lost, entries.more]
            place = Cat(C(0, 4), entries.number[:ENTRY_BITS], entries.channel, self.input_base[RINGS_BITS:])
            self.comb += [
                # After a push the status has priority
                push.eq(entries.valid & free & (writes < WRITES) & ~(pushed & fresh)),
                entries.ready.eq(pushing & beat_sent & second),
                If(
                    pushing,
                    bus.awaddr.eq(place),
                    bus.wdata.eq(entries.timestamp),
                    If(second, bus.wdata.eq(Cat(entries.data, *flags, C(0, 13), entries.number))),
                ),
            ]
