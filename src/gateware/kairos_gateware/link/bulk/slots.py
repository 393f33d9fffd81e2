"""Bulk transfers, requesting end: the packets in flight, each in a slot with a timer until it is answered.

The first answer is missing after a time that follows the round trips (`RoundTrip`), later ones after the
longest: a link that comes back is waited for. Clock domain sys.
"""

from functools import reduce
from operator import and_, or_

from migen import *

from ..remote.timing import RoundTrip
from ..remote.words import BOARD_BITS, DONE, GENERATION_BITS, SLOT_BITS, UNREACHABLE
from .words import AGAIN, ANSWER, ID_BITS, KEY_BITS, SLOTS, STATUS_BITS, board_of, via_of

__all__ = ["SPOILT_TRIES", "UNREADABLE", "PacketSlots"]

UNREADABLE = 6
"""Cause of a halt, beside the statuses of answers: this board's memory could not be read."""
SPOILT_TRIES = 16
"""So many attempts of which the answer is that the packet was broken count as one without an answer."""
_LEAST_SHARE = 8
"""The shortest time-out is this part of the longest."""


class PacketSlots(Module):
    """The packets in flight, with their timers, of which one after the other is checked. receiving:
    `BulkReceiving`. timeout, attempts, servers: as of the `BulkEngine`. open_bits: of the numbers of descriptors.
    way: `BulkWay`.

    `board` (in, 3 bits): number of this board. `written` (in, `ready` out): for each server of this board, answers to
    packets that fetch. For each as well, `brought` (out): the packet with `brought_key` (in, 13 bits) awaits an answer.
    `issued` (in): a packet is sent, in slot `slot` (in, 4 bits) with identification `id` (out, 7 bits): if `new`
    (in) for the first time, of `descriptor` (in, 2 bits), in slot `free` (out, 4 bits), else slot `late`
    (out, 4 bits) again.
    `full` (out): no slot is free; `empty` (out): all are. `again` (out): a packet is to be retransmitted. For
    a cycle: `retry` (out), one is from now on; `ended` (out), one of descriptor `ended_of` (out, 2 bits) is no
    longer in flight, and has failed if `fails` (out), with `why` (out, 3 bits), a status. `unreadable` (in):
    this board's memory could not be read. `timeout` (out): cycles after which the first answer is missing.
    """

    def __init__(self, way, timeout, attempts, open_bits, servers):
        receiving = way.receiving
        self.board, self.unreadable = Signal(BOARD_BITS), Signal()
        self.written = [Record([("valid", 1), ("ready", 1), *ANSWER]) for _ in range(servers)]
        self.brought_key, self.brought = [[Signal(width) for _ in range(servers)] for width in (KEY_BITS, 1)]
        self.issued, self.new, self.slot, self.id = Signal(), Signal(), Signal(SLOT_BITS), Signal(ID_BITS)
        self.descriptor, self.ended_of = Signal(open_bits), Signal(open_bits)
        self.free, self.late = Signal(SLOT_BITS), Signal(SLOT_BITS)
        self.full, self.empty, self.again = Signal(), Signal(), Signal()
        self.retry, self.ended = Signal(), Signal()
        self.fails, self.why = Signal(), Signal(STATUS_BITS)
        self.submodules.trip = trip = RoundTrip(timeout // _LEAST_SHARE, timeout)
        self.timeout = trip.timeout

        # # #

        now, at = Signal(max=2 * timeout), Signal(SLOT_BITS)
        busy, again = [Array(Signal() for _ in range(SLOTS)) for _ in range(2)]
        generation = Array(Signal(GENERATION_BITS) for _ in range(SLOTS))
        sent = Array(Signal.like(now) for _ in range(SLOTS))
        cost_limit = attempts * SPOILT_TRIES
        cost, costs = Signal(max=SPOILT_TRIES + 1), Array(Signal(max=cost_limit + 1) for _ in range(SLOTS))
        of = Array(Signal(open_bits) for _ in range(SLOTS))
        comes, key, status = Signal(), Signal(KEY_BITS), Signal(STATUS_BITS)
        limit, late, checked = Signal.like(now), Signal(), Signal.like(at)
        overdue, which, waited, expected = Signal(), Signal(SLOT_BITS), Signal.like(now), Signal()

        def awaits(key):
            slot = key[:SLOT_BITS]
            own = (board_of(key) == self.board) & ((via_of(key) == 0) | (via_of(key) == way.via))
            return own & (generation[slot] == key[SLOT_BITS:ID_BITS]) & busy[slot] & ~again[slot]

        # Answers on this line cannot wait; the others do, for those before them
        waiting = [*self.written, *way.arrived]

        self.comb += [
            comes.eq(reduce(or_, [answer.valid for answer in waiting], receiving.answer)),
            [
                answer.ready.eq(~reduce(or_, [other.valid for other in waiting[:n]], receiving.answer))
                for n, answer in enumerate(waiting)
            ],
            [If(answer.valid, key.eq(answer.key), status.eq(answer.status)) for answer in reversed(waiting)],
            If(receiving.answer, key.eq(receiving.answer_key), status.eq(receiving.answer_status)),
            [brought.eq(awaits(of)) for brought, of in zip(self.brought, self.brought_key, strict=True)],
            [If(~busy[n], self.free.eq(n)) for n in reversed(range(SLOTS))],
            [If(again[n], self.late.eq(n)) for n in reversed(range(SLOTS))],
            self.full.eq(reduce(and_, busy)),
            self.empty.eq(~reduce(or_, busy)),
            self.again.eq(reduce(or_, again)),
            self.id.eq(Cat(self.slot, (generation[self.slot] + 1)[:GENERATION_BITS])),
            expected.eq(comes & awaits(key)),
            waited.eq(now - sent[at]),
            limit.eq(Mux(costs[at] == 0, trip.timeout, timeout)),
            # The comparison takes a cycle of its own, after which the slot must still wait for the same answer
            overdue.eq(~comes & late & busy[checked] & ~again[checked] & ~(self.issued & (self.slot == checked))),
            trip.measured.eq(expected & (status != AGAIN) & (costs[which] == 0)),
            trip.cycles.eq(now - sent[which]),
            trip.late.eq(overdue & (costs[checked] == 0)),
            which.eq(Mux(comes, key[:SLOT_BITS], checked)),
            # What cannot be read stays so
            cost.eq(Mux(overdue | self.unreadable, SPOILT_TRIES, 1)),
            self.retry.eq((overdue | (expected & (status == AGAIN))) & (costs[which] + cost < cost_limit)),
            self.ended.eq((overdue | expected) & ~self.retry),
            self.ended_of.eq(of[which]),
            self.fails.eq(self.ended & (overdue | (status != DONE))),
            self.why.eq(
                Mux(
                    overdue | (status == AGAIN),
                    Mux(self.unreadable, UNREADABLE, C(UNREACHABLE, STATUS_BITS)),
                    status,
                )
            ),
        ]
        self.sync += [
            now.eq(now + 1),
            # Restarts from the same slot after any idle time, which may be skipped
            at.eq(Mux(self.empty, 0, at + 1)),
            checked.eq(Mux(self.empty, 0, at)),
            late.eq(busy[at] & ~again[at] & (waited >= limit) & ~(self.issued & (self.slot == at))),
        ]
        for n in range(SLOTS):
            issued = self.issued & (self.slot == n)
            self.sync += [
                If(issued, sent[n].eq(now), again[n].eq(0), generation[n].eq(generation[n] + 1)),
                If(issued, busy[n].eq(1)),
                If(issued & self.new, costs[n].eq(0)),
                If(self.new & (self.free == n), of[n].eq(self.descriptor)),
                If(self.retry & (which == n), again[n].eq(1), costs[n].eq(costs[n] + cost)),
                If(self.ended & (which == n), busy[n].eq(0)),
            ]
