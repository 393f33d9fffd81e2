"""Remote memory, requesting end: loads and stores of one board in the memory of the board at the
other end of a link.

Each request occupies one of `SLOTS` slots, with a timer, until it is answered. If no answer arrives
in time (the link was lost, or the board restarted), it is retransmitted with a new number; after
`attempts` attempts it has failed. The first time-out follows the round trips (`RoundTrip`), the others are
the longest: a link that comes back is waited for. An answer whose number is no longer expected is ignored and
counted.

A store may be answered **early**: immediately, while its slot guards it; if it fails later,
`failed` reports it with its address. A load of a word with a store in flight waits, and so does a
store to a word with a load in flight, or a store to some of the same bytes: so each byte sees loads
and stores in the order of the requests, whatever is retransmitted. A store may be executed twice in
a row. There is no order between different words; `idle` means that nothing is in flight.

Latency: request → vector 1; answer's vector → answer 0. Throughput: one request per cycle. Clock
domain sys.
"""

from functools import reduce
from operator import or_

from migen import *

from .timing import RoundTrip
from .words import (
    ADDRESS_BITS,
    ANSWER,
    BOARD_BITS,
    DONE,
    GENERATION_BITS,
    REQUEST,
    SLOT_BITS,
    SLOTS,
    STATUS_BITS,
    UNREACHABLE,
    VIA_BITS,
    fields,
)

__all__ = ["TAG_BITS", "RemoteInitiator"]

TAG_BITS = 8
_COUNT_BITS = 16
_LEAST_SHARE = 16
"""The shortest time-out is this part of the longest."""

_PAYLOAD = [("address", ADDRESS_BITS), ("data", 64), ("strobes", 8), ("far", 1), ("destination", BOARD_BITS)]
_REQUEST = [("valid", 1), ("ready", 1), ("write", 1), *_PAYLOAD, ("tag", TAG_BITS)]
_ANSWER = [("valid", 1), ("tag", TAG_BITS), ("status", STATUS_BITS), ("data", 64)]


class _Slots(Module):
    """The requests in flight, one in each slot. request: on offer. early: stores are answered at once.

    `enter` (in): the request on offer is entered in slot `free` (out, 4 bits), which must not be
    done unless there is `room` (out): a free slot, and no conflicting request in flight. For a cycle:
    `done` (in), slot `done_slot` (in, 4 bits) has been answered; `given_up` (in) or `retry` (in),
    slot `timed` (in, 4 bits) has failed or is to be retransmitted, with a new number;
    `repeated` (in), a retransmission of slot `late` (out, 4 bits) leaves.

    `busy` (out, 16 bits): the slots with a request; `again` (out, 16 bits): those to be
    retransmitted, of which `late` is the first; `answered` (out, 16 bits): those with a store that
    was answered early. `idle` (out): nothing is in flight. address, tag, far, generation: of each slot.
    """

    def __init__(self, request, early):
        self.enter, self.room, self.free = Signal(), Signal(), Signal(SLOT_BITS)
        self.done, self.done_slot = Signal(), Signal(SLOT_BITS)
        self.given_up, self.retry, self.timed = Signal(), Signal(), Signal(SLOT_BITS)
        self.repeated, self.late = Signal(), Signal(SLOT_BITS)
        self.busy, self.again, self.answered = Signal(SLOTS), Signal(SLOTS), Signal(SLOTS)
        self.idle = Signal()
        self.address = Array(Signal(ADDRESS_BITS) for _ in range(SLOTS))
        self.tag = Array(Signal(TAG_BITS) for _ in range(SLOTS))
        self.far = Array(Signal() for _ in range(SLOTS))
        self.generation = Array(Signal(GENERATION_BITS) for _ in range(SLOTS))

        # # #

        writes, strobes = Signal(SLOTS), [Signal.like(request.strobes) for _ in range(SLOTS)]

        def disturbs(n):
            """Whether the order of the request and that in slot n matters, if both have the same word."""
            both = (strobes[n] & request.strobes) != 0
            return Mux(request.write, ~writes[n] | both, writes[n])

        meets = [self.busy[n] & (self.address[n] == request.address) & disturbs(n) for n in range(SLOTS)]
        self.comb += [
            [If(~self.busy[n], self.free.eq(n)) for n in reversed(range(SLOTS))],
            [If(self.again[n], self.late.eq(n)) for n in reversed(range(SLOTS))],
            self.room.eq(~reduce(or_, meets) & (self.busy != 2**SLOTS - 1)),
            self.idle.eq(self.busy == 0),
        ]
        for n in range(SLOTS):
            entered = self.enter & (self.free == n)
            ends = (self.done & (self.done_slot == n)) | (self.given_up & (self.timed == n))
            self.sync += [
                If(
                    entered,
                    self.address[n].eq(request.address),
                    self.tag[n].eq(request.tag),
                    self.far[n].eq(request.far),
                    strobes[n].eq(request.strobes),
                    self.generation[n].eq(self.generation[n] + 1),
                    writes[n].eq(request.write),
                    self.answered[n].eq(request.write & early),
                ),
                If(self.repeated & (self.late == n), self.again[n].eq(0)),
                If(self.retry & (self.timed == n), self.generation[n].eq(self.generation[n] + 1), self.again[n].eq(1)),
                If(self.given_up & (self.timed == n), self.again[n].eq(0)),
                If(entered, self.busy[n].eq(1)).Elif(ends, self.busy[n].eq(0)),
            ]


class _Answers(Module):
    """Takes the answers from the link. slots: `_Slots`. source: of the endpoint. board: number of this board.

    `hold` (in): a request must not be answered in this cycle. `comes` (out): an expected answer is
    there. `done` (out): it is taken, for slot `slot` (out, 4 bits). `answer` (out): to the
    request; `failed` (out): it cannot be given, as the store was answered early and has failed with
    `status` (out, 2 bits). `stale` (out): the answer taken is one that is no longer expected.
    """

    def __init__(self, slots, source, board):
        self.hold, self.comes, self.done = Signal(), Signal(), Signal()
        self.slot, self.status = Signal(SLOT_BITS), Signal(STATUS_BITS)
        self.answer = Record(_ANSWER)
        self.failed, self.stale = Signal(), Signal()

        # # #

        answer, expected, taken = fields(ANSWER["data"], source.data), Signal(), Signal()
        generation = answer["id"][SLOT_BITS:]
        answered, busy = [Array(bits[n] for n in range(SLOTS))[self.slot] for bits in (slots.answered, slots.busy)]
        self.comb += [
            self.slot.eq(answer["id"][:SLOT_BITS]),
            self.status.eq(answer["status"]),
            expected.eq(busy & (slots.generation[self.slot] == generation) & (answer["source"] == board)),
            source.ready.eq(~expected | answered | ~self.hold),
            self.comes.eq(source.valid & expected),
            taken.eq(source.valid & source.ready),
            self.done.eq(taken & expected),
            self.stale.eq(taken & ~expected),
            self.answer.valid.eq(self.done & ~answered),
            self.answer.tag.eq(slots.tag[self.slot]),
            self.answer.status.eq(self.status),
            self.answer.data.eq(answer["data"]),
            self.failed.eq(self.done & answered & (self.status != DONE)),
        ]


class _Timers(Module):
    """Checks one slot's timer after the other. slots: `_Slots`. timeout: in cycles, of the second and further
    attempts, and the longest of the first. attempts: how often a request is sent at most.

    `sent` (in): a request is entered in the slots. `done` (in): that in slot `done_slot` (in, 4 bits) has been
    answered. `first` (out): time-out of the first attempt. `at` (out, 4 bits): the slot that is checked in
    this cycle. `retry` (out): its request is to be retransmitted. `given_up` (out): it has failed. Neither
    while `hold` (in), and the latter not while `busy` (in): then the slot is checked again later.
    """

    def __init__(self, slots, timeout, attempts):
        self.hold, self.sent, self.busy = Signal(), Signal(), Signal()
        self.at, self.retry, self.given_up = Signal(SLOT_BITS), Signal(), Signal()
        self.done, self.done_slot = Signal(), Signal(SLOT_BITS)
        self.submodules.trip = trip = RoundTrip(timeout // _LEAST_SHARE, timeout)
        self.first = trip.timeout

        # # #

        now, overdue = Signal(max=2 * timeout), Signal()
        sent = Array(Signal.like(now) for _ in range(SLOTS))
        count = Array(Signal(max=attempts + 1) for _ in range(SLOTS))
        waited, limit, at, late = Signal.like(now), Signal.like(now), self.at, Signal()
        following, busy = Signal(SLOT_BITS), Array(slots.busy[n] for n in range(SLOTS))
        self.comb += [
            waited.eq(now - sent[following]),
            limit.eq(Mux(count[following] == 1, self.first, timeout)),
            # The comparison takes a cycle of its own, after which the slot must still be in use
            overdue.eq(busy[at] & late & ~self.hold),
            trip.measured.eq(self.done & (count[self.done_slot] == 1)),
            trip.cycles.eq(now - sent[self.done_slot]),
            trip.late.eq(self.retry & (count[at] == 1)),
            self.given_up.eq(overdue & (count[at] == attempts) & ~self.busy),
            self.retry.eq(overdue & (count[at] != attempts)),
        ]
        self.sync += [
            now.eq(now + 1),
            # Restarts from the same slot after any idle time, which may be skipped
            following.eq(Mux(slots.idle, 0, following + 1)),
            at.eq(Mux(slots.idle, 0, following)),
            late.eq(busy[following] & (waited >= limit)),
        ]
        for n in range(SLOTS):
            self.sync += [
                If(self.sent & (slots.free == n), sent[n].eq(now), count[n].eq(1)),
                If(self.retry & (at == n), sent[n].eq(now), count[n].eq(count[n] + 1)),
            ]


class _Sender(Module):
    """The register before the link: new requests, and retransmissions from the copies of the slots. slots:
    `_Slots`. request: on offer. sink, up: of the endpoint. board: number of this board. via: of its link.

    `free` (out): it takes something in this cycle: a retransmission if one is due, else the request if
    `enter` (in).
    """

    def __init__(self, slots, request, sink, up, board, via):
        self.free, self.enter = Signal(), Signal()

        # # #

        layout = [("write", 1), *_PAYLOAD]
        new, out = Record(layout), Record([*layout, ("slot", SLOT_BITS), ("valid", 1)])
        generation, repeat = Signal(GENERATION_BITS), slots.again != 0
        memory = Memory(len(new.raw_bits()), SLOTS)
        write, read = memory.get_port(write_capable=True), memory.get_port(async_read=True)
        self.specials += memory, write, read
        leads, led = Signal(), Signal()  # a way must precede the request; it has been sent
        self.comb += [
            leads.eq(out.far & ~led),
            self.free.eq(~out.valid | (sink.ready & ~leads) | ~up),
            [getattr(new, name).eq(getattr(request, name)) for name, _ in layout],
            write.adr.eq(slots.free),
            write.we.eq(self.enter),
            write.dat_w.eq(new.raw_bits()),
            read.adr.eq(slots.late),
        ]
        self.sync += [
            If(
                self.free,
                out.valid.eq(self.enter | repeat),
                Cat(*[getattr(out, name) for name, _ in layout]).eq(Mux(repeat, read.dat_r, new.raw_bits())),
                out.slot.eq(Mux(repeat, slots.late, slots.free)),
                generation.eq(Mux(repeat, slots.generation[slots.late], slots.generation[slots.free] + 1)),
            ),
            If(sink.valid & sink.ready, led.eq(leads)).Elif(~up, led.eq(0)),
        ]
        values = {"id": Cat(out.slot, generation), "source": board, "address": out.address}
        values |= {"data": out.data, "strobes": out.strobes, "destination": out.destination, "via": via}
        forms = {
            name: [sink.form.eq(tag), sink.data.eq(Cat(*[values[field] for field, _ in REQUEST[name]]))]
            for tag, name in enumerate(REQUEST, 1)
        }
        self.comb += [
            sink.valid.eq(out.valid),
            If(leads, *forms["way"])
            .Elif(~out.write, *forms["read"])
            .Elif(out.strobes == 255, *forms["write"])
            .Else(*forms["partial"]),
        ]


class RemoteInitiator(Module):
    """sink, source: of the endpoint, the streams of `remote_streams`. up: of the endpoint; while it
    is 0, vectors sent are lost, so requests eventually fail. timeout: cycles after which an answer
    is missing at the latest, more than a round trip. attempts: how often a request is sent at most.
    via: number of this link among the board's, if answers come by others too (`VIA_BITS`).

    `request` (in): accepted if `valid` and `ready`; `tag` is returned with its answer; if `far`, it is
    for the board `destination`, otherwise for the one at the other end. `answer` (out): valid for a
    cycle; `status`; `data` of a load. `early` (in): accepted stores are answered immediately. `board`
    (in, 3 bits): number of this board. `idle` (out): nothing is in flight. For a cycle: `failed` (out), an
    early answered store has failed, with `failed_address` (out, 29 bits), `failed_status` (out, 2
    bits), and its `failed_tag` (out, 8 bits) and `failed_far` (out). Saturating counts: `repeated` (out, 16
    bits), retransmitted requests; `stale` (out, 16 bits), late answers. `timeout` (out): cycles after which an
    answer to a new request is missing.
    """

    def __init__(self, sink, source, up, timeout=4096, attempts=4, via=0):
        self.request, self.answer = Record(_REQUEST), Record(_ANSWER)
        self.early, self.board, self.idle = Signal(), Signal(BOARD_BITS), Signal()
        self.failed, self.failed_address = Signal(), Signal(ADDRESS_BITS)
        self.failed_status, self.failed_tag, self.failed_far = Signal(STATUS_BITS), Signal(TAG_BITS), Signal()
        self.repeated, self.stale = Signal(_COUNT_BITS), Signal(_COUNT_BITS)

        # # #

        request, answer = self.request, self.answer
        self.submodules.slots = slots = _Slots(request, self.early)
        self.submodules.answers = answers = _Answers(slots, source, self.board)
        self.submodules.timers = timers = _Timers(slots, timeout, attempts)
        self.submodules.sender = sender = _Sender(slots, request, sink, up, self.board, C(via, VIA_BITS))
        self.timeout = timers.first
        early, early_tag, slot = Signal(), Signal(TAG_BITS), Signal(SLOT_BITS)
        # The failed request has been answered already
        too_late = Array(slots.answered[n] for n in range(SLOTS))[timers.at]
        self.comb += [
            request.ready.eq(sender.free & (slots.again == 0) & slots.room),
            slots.enter.eq(request.valid & request.ready),
            sender.enter.eq(slots.enter),
            slots.repeated.eq(sender.free),
            timers.sent.eq(slots.enter),
            timers.done.eq(answers.done),
            timers.done_slot.eq(answers.slot),
            timers.hold.eq(answers.comes),
            timers.busy.eq(early),
            answers.hold.eq(early | timers.given_up),
            slots.done.eq(answers.done),
            slots.done_slot.eq(answers.slot),
            slots.given_up.eq(timers.given_up),
            slots.retry.eq(timers.retry),
            slots.timed.eq(timers.at),
            self.idle.eq(slots.idle),
        ]
        self.sync += [early.eq(slots.enter & request.write & self.early), early_tag.eq(request.tag)]
        # A failure, an early answer and one from the link exclude each other
        self.comb += [
            answer.eq(answers.answer),
            If(early, answer.valid.eq(1), answer.tag.eq(early_tag), answer.status.eq(DONE)),
            If(
                timers.given_up & ~too_late,
                answer.valid.eq(1),
                answer.tag.eq(slots.tag[timers.at]),
                answer.status.eq(UNREACHABLE),
            ),
            self.failed.eq(answers.failed | (timers.given_up & too_late)),
            slot.eq(Mux(timers.given_up, timers.at, answers.slot)),
            self.failed_address.eq(slots.address[slot]),
            self.failed_tag.eq(slots.tag[slot]),
            self.failed_far.eq(slots.far[slot]),
            self.failed_status.eq(Mux(timers.given_up, UNREACHABLE, answers.status)),
        ]
        for count, event in ((self.repeated, timers.retry), (self.stale, answers.stale)):
            self.sync += If(event & (count != 2**_COUNT_BITS - 1), count.eq(count + 1))
