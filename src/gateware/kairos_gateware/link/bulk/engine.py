"""Bulk transfers, sending end: descriptors in a ring request copies from this board's memory to the
one at the other end of the link.

    ring ─▶ descriptor ─▶ packets of 512 bytes ─▶ slot, timer ─▶ bursts from memory ─▶ line
                                  slot is free, or again ◀─ answer

A **descriptor** has 16 bytes: address of the first byte here (32 bits), bytes (32 bits), address of
the first byte there (32 bits), and flags (32 bits; bit 0: report completion; bit 11: for the board
whose number is in bits 10 to 8 instead of the neighbour). All but the flags are multiples of 8.
Descriptors are carried out in order; the packets of the next one may start while the last of the
previous one are still in flight, so scattered data are as fast as contiguous data. They are
completed in order.

A packet occupies one of `SLOTS` slots, with a timer, until it is answered. Its data are not kept:
if it arrived broken or is not answered in time, they are read from memory again, so they must not
change before the descriptor is complete. After `attempts` attempts it has failed; then, or if a
packet is rejected, the engine halts, reports the cause, and starts nothing more until it is
cleared. Descriptors before the failed one are completed, later ones are not.

With `early`, the next packet is read as soon as the last word of the previous one has been read,
whose timer guards it, so `SLOTS` packets may be in flight; otherwise the next packet is read when
the previous one has been answered. `completed` counts only answered packets, in both modes.

Throughput: one word per cycle while packets are in flight. Clock domain sys.
"""

from migen import *
from migen.genlib.fifo import SyncFIFO, SyncFIFOBuffered

from ...hp import HpRead
from ..remote.words import ADDRESS_BITS, BOARD_BITS, DONE, GENERATION_BITS, SLOT_BITS, UNREACHABLE
from .server import BURST, burst_beats
from .words import AGAIN, HEAD, ID_BITS, LENGTH_BITS, PACKET_WORDS, SLOTS, STATUS_BITS

__all__ = ["INVALID", "RING", "UNREADABLE", "BulkEngine"]

RING = 64
"""Descriptors of the ring, which begins at a multiple of its size."""
DESCRIPTOR_BYTES = 16
INVALID, UNREADABLE = 5, 6
"""Causes of a halt, beside the statuses of answers: a descriptor with no bytes, or not of whole
words; this board's memory could not be read."""
_OPEN = 4
"""Descriptors in flight."""
_OPEN_BITS = log2_int(_OPEN)
_BUFFER = 256
_COUNT_BITS = 16
_WORD_BITS = 3
"""Address bits within a word."""
_TO_BITS, _TO = 1 + BOARD_BITS, 8
"""Bits of a descriptor's flags that name a board other than the neighbour, the number in the low
bits, from bit 8 on."""


class BulkEngine(Module):
    """way: `BulkWay` of the link. timeout: cycles after which an answer is missing. attempts: how
    often a packet is sent.

    `board` (in, 3 bits): number of this board. `base` (in, 32 bits): address of the ring. `posted` (in, 16
    bits): number of descriptors posted so far, modulo 65536; `completed` (out, 16 bits): likewise, completed
    or dropped. `early` (in): packets are read before the previous ones are answered. `done` (out): for a
    cycle, a descriptor that requested it is complete. `halted` (out): with `reason` (out, 3 bits), a status;
    both until `clear` (in): resumes from `posted` and clears the halt, once nothing is in flight. `repeated`
    (out, 16 bits): packets that were retransmitted; saturates. `bus_ring`, `bus_data`: `HpRead`. `idle` (out):
    nothing is in flight; `settled` (out), for time skip: in addition, nothing begins or changes before a
    register is written.
    """

    def __init__(self, way, timeout=4096, attempts=8):
        packet, self.board = way.packet, Signal(BOARD_BITS)
        self.base, self.posted, self.completed = Signal(32), Signal(_COUNT_BITS), Signal(_COUNT_BITS)
        self.early, self.done, self.clear = Signal(), Signal(), Signal()
        self.halted, self.reason = Signal(), Signal(STATUS_BITS)
        self.repeated, self.idle, self.settled = Signal(_COUNT_BITS), Signal(), Signal()
        self.bus_ring, self.bus_data = HpRead(), HpRead()

        # # #

        self._timeout, self._attempts = timeout, attempts
        self._fails, self._why = Signal(), Signal(STATUS_BITS)  # a packet, in this cycle
        self._invalid, self._wrong = Signal(), Signal(STATUS_BITS)  # a descriptor, in this cycle
        self._busy, self._again = Signal(SLOTS), Signal(SLOTS)
        self._generation = Array(Signal(GENERATION_BITS) for _ in range(SLOTS))
        self._counts = Array(Signal(max=SLOTS + 1) for _ in range(_OPEN))  # packets in flight of an open descriptor
        self._whole, self._notifies, self._failed = Signal(_OPEN), Signal(_OPEN), Signal(_OPEN)
        self._unreadable = Signal()
        clears, waits = Signal(), Signal()
        fetching = self._fetch(clears)
        job, issues, slot = self._issue(clears)
        self._answer(way.receiving, issues, slot)
        moving = self._read(packet, job, issues)
        completing = self._complete(clears)
        self.comb += [
            self.idle.eq((self._busy == 0) & ~moving & ~fetching & ~packet.valid),
            clears.eq(waits & self.idle),
            # A halted engine leaves posted descriptors as they are
            self.settled.eq(self.idle & ~waits & ~completing & (self.halted | (self.posted == self.completed))),
        ]
        self.sync += [
            If(self.clear, waits.eq(1)).Elif(clears, waits.eq(0)),
            If(self._fails & ~self.halted, self.halted.eq(1), self.reason.eq(self._why)),
            If(self._invalid & ~self.halted & ~self._fails, self.halted.eq(1), self.reason.eq(self._wrong)),
            If(clears, self.halted.eq(0), self.reason.eq(0), self._unreadable.eq(0)),
        ]

    def _fetch(self, clears):
        """Reads the next descriptor. Returns whether it is being read."""
        bus = self.bus_ring
        self._next = Record([("valid", 1), ("local", 32), ("bytes", 32), ("remote", 32), ("flags", 32), ("spoiled", 1)])
        self._fetched, self._taken = Signal(_COUNT_BITS), Signal()
        asked, second = Signal(), Signal()
        now = self._next
        self.comb += [
            bus.araddr.eq(self.base + self._fetched[: log2_int(RING)] * DESCRIPTOR_BYTES),
            bus.arlen.eq(1),
            bus.rready.eq(1),
        ]
        self.sync += [
            If(
                ~asked & ~now.valid & (self._fetched != self.posted) & ~self.halted,
                bus.arvalid.eq(1),
                asked.eq(1),
            ),
            If(bus.arvalid & bus.arready, bus.arvalid.eq(0)),
            If(
                bus.rvalid,
                If(~second, Cat(now.local, now.bytes).eq(bus.rdata)).Else(Cat(now.remote, now.flags).eq(bus.rdata)),
                second.eq(~second),
                now.spoiled.eq(bus.rresp[1] | (now.spoiled & second)),
                If(second, now.valid.eq(1), asked.eq(0), self._fetched.eq(self._fetched + 1)),
            ),
            If(self._taken, now.valid.eq(0)),
            If(clears, now.valid.eq(0), self._fetched.eq(self.posted)),
        ]
        return asked

    def _issue(self, clears):
        """Issues the packets of the current descriptor, and those that are to be retransmitted.
        Returns (packet's local address, remote one, length, id; whether it is to be read; its
        slot)."""
        self._opened = Signal(_COUNT_BITS)  # descriptors
        local, remote, left, to = Signal(ADDRESS_BITS), Signal(ADDRESS_BITS), Signal(ADDRESS_BITS), Signal(_TO_BITS)
        kept = Record([("local", ADDRESS_BITS), ("remote", ADDRESS_BITS), ("length", LENGTH_BITS), ("to", _TO_BITS)])
        new, old = Record(kept.layout), Record(kept.layout)
        memory = Memory(len(kept.raw_bits()), SLOTS)
        write, read = memory.get_port(write_capable=True), memory.get_port(async_read=True)
        self.specials += memory, write, read
        job = Record([*kept.layout, ("id", ID_BITS)])
        free, late, slot = [Signal(SLOT_BITS) for _ in range(3)]
        self._room, self._late = Signal(), Signal()
        repeats, issues, begins = Signal(), Signal(), Signal()
        place, now = self._opened[:_OPEN_BITS], self._next
        self._of = Array(Signal(_OPEN_BITS) for _ in range(SLOTS))
        self._current, self._new = Signal(_OPEN_BITS), Signal()
        right = (now.bytes != 0) & (Cat(now.local[:3], now.bytes[:3], now.remote[:3]) == 0)
        self.comb += [
            [If(~self._busy[n], free.eq(n)) for n in reversed(range(SLOTS))],
            [If(self._again[n], late.eq(n)) for n in reversed(range(SLOTS))],
            repeats.eq((self._again != 0) & self._room),
            self._new.eq(
                (left != 0)
                & ~self.halted
                & (self._again == 0)
                & self._room
                & (self._busy != 2**SLOTS - 1)
                & (self.early | (self._busy == 0))
            ),
            issues.eq(repeats | self._new),
            slot.eq(Mux(repeats, late, free)),
            new.local.eq(local),
            new.remote.eq(remote),
            new.to.eq(to),
            new.length.eq(Mux(left > PACKET_WORDS, PACKET_WORDS - 1, left - 1)),
            write.adr.eq(free),
            write.we.eq(self._new),
            write.dat_w.eq(new.raw_bits()),
            read.adr.eq(late),
            old.raw_bits().eq(read.dat_r),
            [getattr(job, name).eq(Mux(repeats, getattr(old, name), getattr(new, name))) for name, *_ in kept.layout],
            job.id.eq(Cat(slot, (self._generation[slot] + 1)[:GENERATION_BITS])),
            begins.eq(now.valid & (left == 0) & ~self.halted & ((self._opened - self.completed)[:_COUNT_BITS] < _OPEN)),
            self._taken.eq(begins & right & ~now.spoiled),
            self._invalid.eq(begins & (~right | now.spoiled)),
            self._wrong.eq(Mux(now.spoiled, UNREADABLE, INVALID)),
        ]
        self.sync += [
            If(
                self._new,
                local.eq(local + new.length + 1),
                remote.eq(remote + new.length + 1),
                left.eq(left - new.length - 1),
                [If(self._current == n, self._whole[n].eq(left == new.length + 1)) for n in range(_OPEN)],
            ),
            If(
                self._taken,
                local.eq(now.local[_WORD_BITS:]),
                remote.eq(now.remote[_WORD_BITS:]),
                to.eq(now.flags[_TO : _TO + _TO_BITS]),
                left.eq(now.bytes[_WORD_BITS:]),
                self._current.eq(place),
                self._opened.eq(self._opened + 1),
                [If(place == n, self._notifies[n].eq(now.flags[0]), self._whole[n].eq(0)) for n in range(_OPEN)],
            ),
            If(clears, left.eq(0), self._opened.eq(self.posted)),
            [If(issues & (slot == n), self._generation[n].eq(self._generation[n] + 1)) for n in range(SLOTS)],
            [If(self._new & (free == n), self._of[n].eq(self._current)) for n in range(SLOTS)],
        ]
        return job, issues, slot

    def _answer(self, receiving, issues, slot):
        """Updates slots on answers and timeouts, checking one slot's timer after the other."""
        now, at = Signal(max=2 * self._timeout), Signal(SLOT_BITS)
        sent = Array(Signal.like(now) for _ in range(SLOTS))
        tried = Array(Signal(max=self._attempts + 1) for _ in range(SLOTS))
        answered_slot, generation = receiving.answer_key[:SLOT_BITS], receiving.answer_key[SLOT_BITS:ID_BITS]
        busy, again = [Array(bits[n] for n in range(SLOTS)) for bits in (self._busy, self._again)]
        mine, expected = Signal(), Signal()
        overdue, which, ends = Signal(), Signal(SLOT_BITS), Signal()
        waited, retry = Signal.like(now), Signal()
        status = receiving.answer_status
        self.comb += [
            mine.eq(receiving.answer & (receiving.answer_key[ID_BITS:] == self.board)),
            expected.eq(
                mine & busy[answered_slot] & (self._generation[answered_slot] == generation) & ~again[answered_slot]
            ),
            waited.eq(now - sent[at]),
            overdue.eq(
                ~receiving.answer & busy[at] & ~again[at] & (waited >= self._timeout) & ~(issues & (slot == at))
            ),
            which.eq(Mux(receiving.answer, answered_slot, at)),
            retry.eq((overdue | (expected & (status == AGAIN))) & (tried[which] != self._attempts)),
            ends.eq((overdue | expected) & ~retry),
            self._fails.eq(ends & (overdue | (status != DONE))),
            self._why.eq(
                Mux(
                    overdue | (status == AGAIN),
                    Mux(self._unreadable, UNREADABLE, C(UNREACHABLE, STATUS_BITS)),
                    status,
                )
            ),
        ]
        self.sync += [
            now.eq(now + 1),
            # Restarts from the same slot after any idle time, which may be skipped
            at.eq(Mux(self._busy == 0, 0, at + 1)),
            If(retry & (self.repeated != 2**_COUNT_BITS - 1), self.repeated.eq(self.repeated + 1)),
        ]
        for n in range(SLOTS):
            issued = issues & (slot == n)
            self.sync += [
                If(issued, sent[n].eq(now), self._again[n].eq(0)),
                If(issued, tried[n].eq(Mux(self._new, 1, tried[n] + 1)), self._busy[n].eq(1)),
                If(retry & (which == n), self._again[n].eq(1)),
                If(ends & (which == n), self._busy[n].eq(0)),
            ]
        for n in range(_OPEN):
            more = self._new & (self._current == n)
            less = ends & (self._of[which] == n)
            self.sync += [
                If(more & ~less, self._counts[n].eq(self._counts[n] + 1)).Elif(
                    less & ~more, self._counts[n].eq(self._counts[n] - 1)
                ),
                If(self._fails & (self._of[which] == n), self._failed[n].eq(1)),
            ]

    def _read(self, packet, job, issues):
        """Reads packets' data and passes them on. Returns whether any are in flight."""
        bus = self.bus_data
        reads = SyncFIFO(ADDRESS_BITS + LENGTH_BITS, 4)
        heads = SyncFIFO(sum(width for _, width in HEAD) - BOARD_BITS, 8)
        data = SyncFIFOBuffered(65, _BUFFER)
        self.submodules += reads, heads, data
        address, left, rest = Signal(ADDRESS_BITS), Signal(LENGTH_BITS + 1), Signal(LENGTH_BITS + 1)
        beats, chooses = burst_beats(address, left)
        free, length, asks = Signal(max=_BUFFER + 1, reset=_BUFFER), Signal(LENGTH_BITS), Signal()
        next_address, next_length, given = Signal(ADDRESS_BITS), Signal(LENGTH_BITS), Signal()
        self.comb += [
            *chooses,
            self._room.eq(reads.writable & heads.writable),
            reads.we.eq(issues),
            reads.din.eq(Cat(job.local, job.length)),
            heads.we.eq(issues),
            heads.din.eq(Cat(job.id, job.length, job.remote, job.to[-1], job.to[:BOARD_BITS])),
            Cat(next_address, next_length).eq(reads.dout),
            reads.re.eq(left == 0),
            # An address, once offered, is held until it is accepted
            asks.eq((left != 0) & (free >= BURST) & (~bus.arvalid | bus.arready)),
            bus.rready.eq(1),
            data.we.eq(bus.rvalid),
            data.din.eq(Cat(bus.rdata, bus.rresp[1])),
            packet.head.eq(rest == 0),
            packet.valid.eq(Mux(packet.head, heads.readable, data.readable)),
            Cat(packet.key[:ID_BITS], packet.length, packet.address, packet.far, packet.destination).eq(heads.dout),
            packet.key[ID_BITS:].eq(self.board),
            Cat(packet.word, packet.spoiled).eq(data.dout),
            heads.re.eq(packet.ready & packet.head),
            data.re.eq(packet.ready & ~packet.head),
            given.eq(data.re & data.readable),
            length.eq(packet.length),
        ]
        self.sync += [
            If(bus.arready, bus.arvalid.eq(0)),
            If(
                asks,
                bus.arvalid.eq(1),
                bus.araddr.eq(Cat(C(0, _WORD_BITS), address)),
                bus.arlen.eq(beats - 1),
                address.eq(address + beats),
                left.eq(left - beats),
            ),
            If((left == 0) & reads.readable, left.eq(next_length + 1), address.eq(next_address)),
            free.eq(free + given - Mux(asks, beats, 0)),
            If(bus.rvalid & bus.rresp[1], self._unreadable.eq(1)),
            If(packet.valid & packet.ready, If(packet.head, rest.eq(length + 1)).Else(rest.eq(rest - 1))),
        ]
        return reads.readable | (left != 0) | heads.readable | (free != _BUFFER) | (rest != 0)

    def _complete(self, clears):
        """Counts descriptors, in order. Returns whether one is completed in this cycle."""
        place = self.completed[:_OPEN_BITS]
        complete = Signal()
        whole, notifies, failed = [
            Array(bits[n] for n in range(_OPEN)) for bits in (self._whole, self._notifies, self._failed)
        ]
        self.comb += [
            complete.eq((self.completed != self._opened) & whole[place] & (self._counts[place] == 0) & ~failed[place]),
            self.done.eq(complete & notifies[place]),
        ]
        self.sync += If(
            clears,
            self.completed.eq(self.posted),
            self._whole.eq(0),
            self._failed.eq(0),
        ).Elif(
            complete,
            self.completed.eq(self.completed + 1),
            [If(place == n, self._whole[n].eq(0)) for n in range(_OPEN)],
        )
        return complete
