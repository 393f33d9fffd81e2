"""Bulk transfers, requesting end: descriptors in a ring request copies from this board's memory to the
one at the other end of the link, or from there to here.

    ring ─▶ descriptor ─▶ packets of 512 bytes ─▶ slot, timer ─▶ bursts from memory, or a request ─▶ line
                         slot is free, or again ◀─ answer, or fetched data in memory

A **descriptor** has 16 bytes: address of the first byte here (32 bits), bytes (32 bits), address of
the first byte there (32 bits), and flags (32 bits; bit 0: report completion; bit 1: fetch, copy from
there to here; bit 11: for the board whose number is in bits 10 to 8 instead of the neighbour). All but
the flags are multiples of 8. Descriptors are carried out in order; the packets of the next one may start
while the last of the previous one are still in flight, so scattered data are as fast as contiguous data.
They are completed in order.

A packet occupies one of `SLOTS` slots, with a timer, until it is answered. Its data are not kept:
if it arrived broken or is not answered in time, they are read from memory again, so they must not
change before the descriptor is complete. A packet that **fetches** sends a request, and is
answered by a packet with them: `BulkServer` writes them to the address that the slot has kept. After
`attempts` attempts without an answer a packet has failed; one that was answered, since a packet was
broken, counts `1 / SPOILT_TRIES`, as it shows that the other board is there. Then, or if a packet is
rejected, the engine halts, reports the cause, and starts nothing more until it is cleared. Descriptors
before the failed one are completed, later ones are not.

With `early`, the next packet is read as soon as the last word of the previous one has been read,
whose timer guards it, so `SLOTS` packets may be in flight; otherwise the next packet is read when
the previous one has been answered. `completed` counts only answered packets, in both modes.

Throughput: one word per cycle while packets are in flight. Clock domain sys.
"""

from dataclasses import dataclass

from migen import *
from migen.genlib.fifo import SyncFIFO, SyncFIFOBuffered

from ...contracts.remote import (
    COPY_DESCRIPTOR_BYTES,
    COPY_DESCRIPTORS,
    COPY_DESTINATION_AT,
    COPY_FETCH_AT,
    COPY_NOTIFY_AT,
    COPY_OTHER_AT,
)
from ...hp import HpRead
from ..remote.words import ADDRESS_BITS, BOARD_BITS, SLOT_BITS, VIA_BITS
from .server import BURST, burst_beats
from .slots import UNREADABLE, PacketSlots
from .words import (
    ASKED,
    HEAD,
    ID_BITS,
    LENGTH_BITS,
    PACKET_WORDS,
    SLOTS,
    STATUS_BITS,
    board_of,
    data_words,
)

__all__ = ["INVALID", "BroughtPort", "BulkEngine"]

INVALID = 5
"""Cause of a halt, beside `UNREADABLE` and the statuses of answers: a descriptor with no bytes, or not of whole
words."""
_OPEN = 4
"""Descriptors in flight."""
_OPEN_BITS = log2_int(_OPEN)
_BUFFER = 256
_COUNT_BITS = 16
_WORD_BITS = 3
"""Address bits within a word."""
_TO_BITS = 1 + BOARD_BITS
"""Bits of a descriptor's flags that name a board other than the neighbour, the number in the low bits."""
assert COPY_OTHER_AT == COPY_DESTINATION_AT + BOARD_BITS


_EXTENT = [("local", ADDRESS_BITS), ("remote", ADDRESS_BITS), ("length", LENGTH_BITS), ("to", _TO_BITS)]
_EXTENT += [("fetch", 1)]
"""Of a packet: addresses of its first word here and there, words less one, and to which board; whether
its data come from there."""


class _Descriptors(Module):
    """Reads the descriptors from the ring, one ahead.

    `base` (in, 32 bits), `posted` (in, 16 bits): as of the `BulkEngine`. `hold` (in): none is read. `next`
    (out): the next descriptor, if `valid`; it could not be read if `spoiled`. `taken` (in): it has been
    taken. `clear` (in): those posted are skipped. `busy` (out): one is being read. bus: `HpRead`.
    """

    def __init__(self, bus):
        self.base, self.posted = Signal(32), Signal(_COUNT_BITS)
        self.hold, self.taken, self.clear, self.busy = Signal(), Signal(), Signal(), Signal()
        self.next = Record([("valid", 1), ("local", 32), ("bytes", 32), ("remote", 32), ("flags", 32), ("spoiled", 1)])

        # # #

        now, asked, second, fetched = self.next, self.busy, Signal(), Signal(_COUNT_BITS)
        self.comb += [
            bus.araddr.eq(self.base + fetched[: log2_int(COPY_DESCRIPTORS)] * COPY_DESCRIPTOR_BYTES),
            bus.arlen.eq(1),
            bus.rready.eq(1),
        ]
        self.sync += [
            If(
                ~asked & ~now.valid & (fetched != self.posted) & ~self.hold,
                bus.arvalid.eq(1),
                asked.eq(1),
            ),
            If(bus.arvalid & bus.arready, bus.arvalid.eq(0)),
            If(
                bus.rvalid,
                If(~second, Cat(now.local, now.bytes).eq(bus.rdata)).Else(Cat(now.remote, now.flags).eq(bus.rdata)),
                second.eq(~second),
                now.spoiled.eq(bus.rresp[1] | (now.spoiled & second)),
                If(second, now.valid.eq(1), asked.eq(0), fetched.eq(fetched + 1)),
            ),
            If(self.taken, now.valid.eq(0)),
            If(self.clear, now.valid.eq(0), fetched.eq(self.posted)),
        ]


class _Open(Module):
    """The descriptors of which packets are in flight, or still to be issued. They are completed in order.

    `posted` (in, 16 bits), `completed` (out, 16 bits): as of the `BulkEngine`. `begin` (in): the next one is
    opened, which must not be done unless there is `room` (out); completion is reported if `notifies` (in).
    `current` (out, 2 bits): number of the one opened last. For a cycle: `issued` (in), a packet of it is
    sent, its last one if `last` (in); `ended` (in), a packet of descriptor `ended_of` (in, 2 bits) is no
    longer in flight, and has failed if `fails` (in); `complete` (out), the oldest one is; `done` (out), and is
    reported. `clear` (in): all posted ones are dropped, as if completed.
    """

    def __init__(self):
        self.posted, self.completed = Signal(_COUNT_BITS), Signal(_COUNT_BITS)
        self.begin, self.notifies, self.room = Signal(), Signal(), Signal()
        self.current, self.issued, self.last = Signal(_OPEN_BITS), Signal(), Signal()
        self.ended, self.ended_of, self.fails = Signal(), Signal(_OPEN_BITS), Signal()
        self.complete, self.done, self.clear = Signal(), Signal(), Signal()

        # # #

        opened = Signal(_COUNT_BITS)
        counts = Array(Signal(max=SLOTS + 1) for _ in range(_OPEN))  # packets in flight
        whole, notifies, failed = [Array(Signal() for _ in range(_OPEN)) for _ in range(3)]
        first, place = self.completed[:_OPEN_BITS], opened[:_OPEN_BITS]
        self.comb += [
            self.room.eq((opened - self.completed)[:_COUNT_BITS] < _OPEN),
            self.complete.eq((self.completed != opened) & whole[first] & (counts[first] == 0) & ~failed[first]),
            self.done.eq(self.complete & notifies[first]),
        ]
        for n in range(_OPEN):
            more = self.issued & (self.current == n)
            less = self.ended & (self.ended_of == n)
            self.sync += [
                If(more, whole[n].eq(self.last)),
                If(self.begin & (place == n), notifies[n].eq(self.notifies), whole[n].eq(0)),
                If(more & ~less, counts[n].eq(counts[n] + 1)).Elif(less & ~more, counts[n].eq(counts[n] - 1)),
                If(less & self.fails, failed[n].eq(1)),
                If(self.clear, whole[n].eq(0), failed[n].eq(0)).Elif(self.complete & (first == n), whole[n].eq(0)),
            ]
        self.sync += [
            If(self.begin, self.current.eq(place), opened.eq(opened + 1)),
            If(self.clear, opened.eq(self.posted), self.completed.eq(self.posted)).Elif(
                self.complete, self.completed.eq(self.completed + 1)
            ),
        ]


class _Issue(Module):
    """Issues the packets of the current descriptor, and those that are to be retransmitted. descriptors:
    `_Descriptors`. opened: `_Open`. slots: `PacketSlots`.

    `early` (in): as of the `BulkEngine`. `hold` (in): no packets of descriptors are issued, and none is
    begun. `room` (in): a packet can be taken. `issued` (out): `packet` (out) is taken. `clear` (in): the rest
    of the descriptor is dropped. For each of `servers`, `brought` (out): the packet in slot `brought_slot` (in, 4
    bits). `invalid`
    (out): for a cycle, the next descriptor cannot be carried out, for the reason `wrong` (out, 3 bits).
    """

    def __init__(self, descriptors, opened, slots, servers):
        self.early, self.hold, self.room, self.clear = Signal(), Signal(), Signal(), Signal()
        self.issued, self.packet = Signal(), Record(_EXTENT)
        self.brought_slot = [Signal(SLOT_BITS) for _ in range(servers)]
        self.brought = [Record(_EXTENT) for _ in range(servers)]
        self.invalid, self.wrong = Signal(), Signal(STATUS_BITS)

        # # #

        local, remote, left, to = Signal(ADDRESS_BITS), Signal(ADDRESS_BITS), Signal(ADDRESS_BITS), Signal(_TO_BITS)
        fetch, room = Signal(), Signal(LENGTH_BITS + 1)
        first, old = Record(_EXTENT), Record(_EXTENT)
        memory = Memory(len(first.raw_bits()), SLOTS)
        write, read, *brought = (
            memory.get_port(write_capable=True),
            *[memory.get_port(async_read=True) for _ in range(1 + servers)],
        )
        self.specials += memory, write, read, *brought
        repeats, new, begins, now = Signal(), Signal(), Signal(), descriptors.next
        right = (now.bytes != 0) & (Cat(now.local[:3], now.bytes[:3], now.remote[:3]) == 0)
        self.comb += [
            repeats.eq(slots.again & self.room),
            new.eq((left != 0) & ~self.hold & ~slots.again & self.room & ~slots.full & (self.early | slots.empty)),
            self.issued.eq(repeats | new),
            slots.issued.eq(self.issued),
            slots.new.eq(new),
            slots.slot.eq(Mux(repeats, slots.late, slots.free)),
            slots.descriptor.eq(opened.current),
            first.local.eq(local),
            first.remote.eq(remote),
            first.to.eq(to),
            first.fetch.eq(fetch),
            # No packet crosses a multiple of its longest length there: regions that end at one show a range together
            room.eq(PACKET_WORDS - remote[:LENGTH_BITS]),
            first.length.eq(Mux(left > room, room - 1, left - 1)),
            write.adr.eq(slots.free),
            write.we.eq(new),
            write.dat_w.eq(first.raw_bits()),
            read.adr.eq(slots.late),
            old.raw_bits().eq(read.dat_r),
            [
                [port.adr.eq(slot), of.raw_bits().eq(port.dat_r)]
                for port, slot, of in zip(brought, self.brought_slot, self.brought, strict=True)
            ],
            self.packet.raw_bits().eq(Mux(repeats, old.raw_bits(), first.raw_bits())),
            opened.issued.eq(new),
            opened.last.eq(left == first.length + 1),
            opened.notifies.eq(now.flags[COPY_NOTIFY_AT]),
            begins.eq(now.valid & (left == 0) & ~self.hold & opened.room),
            opened.begin.eq(begins & right & ~now.spoiled),
            descriptors.taken.eq(opened.begin),
            self.invalid.eq(begins & (~right | now.spoiled)),
            self.wrong.eq(Mux(now.spoiled, UNREADABLE, INVALID)),
        ]
        self.sync += [
            If(
                new,
                local.eq(local + first.length + 1),
                remote.eq(remote + first.length + 1),
                left.eq(left - first.length - 1),
            ),
            If(
                opened.begin,
                local.eq(now.local[_WORD_BITS:]),
                remote.eq(now.remote[_WORD_BITS:]),
                to.eq(now.flags[COPY_DESTINATION_AT : COPY_OTHER_AT + 1]),
                fetch.eq(now.flags[COPY_FETCH_AT]),
                left.eq(now.bytes[_WORD_BITS:]),
            ),
            If(self.clear, left.eq(0)),
        ]


class _Read(Module):
    """Reads packets' data and passes them on. bus: `HpRead`. way: `BulkWay`. board: number of this board.

    `room` (out): a packet can be taken. `take` (in): `extent` (in) with `id` (in, 7 bits) is. `asked` (in,
    `ready` out): data that another board fetches; both kinds take turns. `moving` (out): some are in transit.
    `unreadable` (out): for a cycle, a word of a packet of this board could not be read.
    """

    def __init__(self, bus, way, board):
        packet = way.packet
        self.room, self.take = Signal(), Signal()
        self.extent, self.id = Record(_EXTENT), Signal(ID_BITS)
        self.asked = asked = Record([("valid", 1), ("ready", 1), *ASKED])
        self.moving, self.unreadable = Signal(), Signal()

        # # #

        job, head, turn, room, takes = self.extent, Record(HEAD), Signal(), Signal(), Signal()
        reads = SyncFIFO(ADDRESS_BITS + LENGTH_BITS, 4)
        heads = SyncFIFO(sum(width for _, width in HEAD), 8)
        data = SyncFIFOBuffered(65, _BUFFER)
        self.submodules += reads, heads, data
        address, left, rest = Signal(ADDRESS_BITS), Signal(LENGTH_BITS + 1), Signal(LENGTH_BITS + 1)
        beats, chooses = burst_beats(address, left)
        free, asks = Signal(max=_BUFFER + 1, reset=_BUFFER), Signal()
        next_address, next_length, given = Signal(ADDRESS_BITS), Signal(LENGTH_BITS), Signal()
        others, asks_for = Signal(), Signal()  # of the packet that leaves
        self.comb += [
            *chooses,
            room.eq(reads.writable & heads.writable),
            self.room.eq(room & ~(asked.valid & turn)),
            asked.ready.eq(room & ~self.take),
            takes.eq(self.take | (asked.valid & asked.ready)),
            If(
                self.take,
                # A neighbour answers by this line
                head.key.eq(Cat(self.id, board, Mux(job.to[-1], C(way.via, VIA_BITS), 0))),
                head.length.eq(job.length),
                head.address.eq(job.remote),
                head.far.eq(job.to[-1]),
                head.destination.eq(job.to[:BOARD_BITS]),
                head.fetch.eq(job.fetch),
            ).Else(
                head.key.eq(asked.key),
                head.length.eq(asked.length),
                head.far.eq(asked.far),
                head.destination.eq(board_of(asked.key)),
                head.fetched.eq(1),
            ),
            reads.we.eq(takes & ~head.fetch),
            reads.din.eq(Cat(Mux(self.take, job.local, asked.address), head.length)),
            heads.we.eq(takes),
            heads.din.eq(head.raw_bits()),
            Cat(next_address, next_length).eq(reads.dout),
            reads.re.eq(left == 0),
            # An address, once offered, is held until it is accepted
            asks.eq((left != 0) & (free >= BURST) & (~bus.arvalid | bus.arready)),
            bus.rready.eq(1),
            data.we.eq(bus.rvalid),
            data.din.eq(Cat(bus.rdata, bus.rresp[1])),
            packet.head.eq(rest == 0),
            packet.valid.eq(Mux(packet.head, heads.readable, data.readable | asks_for)),
            Cat(*[getattr(packet, name) for name, _ in HEAD]).eq(heads.dout),
            Cat(packet.word, packet.spoiled).eq(data.dout),
            heads.re.eq(packet.ready & packet.head),
            data.re.eq(packet.ready & ~packet.head & ~asks_for),
            given.eq(data.re & data.readable),
            self.unreadable.eq(given & packet.spoiled & ~others),
            self.moving.eq(reads.readable | (left != 0) | heads.readable | (free != _BUFFER) | (rest != 0)),
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
            If(takes, turn.eq(self.take)),
            If(
                packet.valid & packet.ready,
                If(
                    packet.head,
                    rest.eq(data_words(packet)),
                    Cat(others, asks_for).eq(Cat(packet.fetched, packet.fetch)),
                ).Else(rest.eq(rest - 1)),
            ),
        ]


@dataclass(frozen=True)
class BroughtPort:
    """For a `BulkServer`. `key` (in, 13 bits) of a packet with fetched data: it is `expected` (out), with so many words
    less one as `length` (out), for the words here from `place` (out) on. `written` (in, `ready` out): they are there,
    or not, as an answer says."""

    key: object
    expected: object
    length: object
    place: object
    written: object


class BulkEngine(Module):
    """way: `BulkWay` of the link. timeout: cycles after which an answer is missing at the latest. attempts: how
    often a packet is sent. servers: `BulkServer` of this board at which fetched data may come.

    `board` (in, 3 bits): number of this board. `base` (in, 32 bits): address of the ring. `posted` (in, 16
    bits): number of descriptors posted so far, modulo 65536; `completed` (out, 16 bits): likewise, completed
    or dropped. `early` (in): packets are read before the previous ones are answered. `done` (out): for a
    cycle, a descriptor that requested it is complete. `halted` (out): with `reason` (out, 3 bits), a status;
    both until `clear` (in): resumes from `posted` and clears the halt, once nothing is in flight. `repeated`
    (out, 16 bits): packets that were retransmitted; saturates. `asked` (in, `ready` out): data to be sent to
    another board. `servers`: for each, `BroughtPort`. `bus_ring`, `bus_data`: `HpRead`. `idle` (out):
    nothing is in flight; `settled` (out), for time skip: in addition, nothing begins or changes before a
    register is written. `timeout` (out): cycles after which the answer to a new packet is missing.
    """

    def __init__(self, way, timeout=4096, attempts=8, servers=1):
        self.early, self.clear = Signal(), Signal()
        self.halted, self.reason = Signal(), Signal(STATUS_BITS)
        self.repeated, self.idle, self.settled = Signal(_COUNT_BITS), Signal(), Signal()
        self.bus_ring, self.bus_data = HpRead(), HpRead()

        # # #

        self.submodules.descriptors = descriptors = _Descriptors(self.bus_ring)
        self.submodules.opened = opened = _Open()
        self.submodules.slots = slots = PacketSlots(way, timeout, attempts, _OPEN_BITS, servers)
        self.submodules.issue = issue = _Issue(descriptors, opened, slots, servers)
        self.submodules.read = read = _Read(self.bus_data, way, slots.board)
        self.base, self.posted, self.board = descriptors.base, descriptors.posted, slots.board
        self.completed, self.done, self.timeout = opened.completed, opened.done, slots.timeout
        self.asked = read.asked
        self.servers = [
            BroughtPort(key, brought & extent.fetch, extent.length, extent.local, written)
            for key, brought, extent, written in zip(
                slots.brought_key, slots.brought, issue.brought, slots.written, strict=True
            )
        ]
        clears, waits = Signal(), Signal()  # in this cycle; once nothing is in flight
        self.comb += [
            opened.posted.eq(self.posted),
            descriptors.hold.eq(self.halted),
            issue.hold.eq(self.halted),
            issue.early.eq(self.early),
            issue.room.eq(read.room),
            read.take.eq(issue.issued),
            read.extent.eq(issue.packet),
            read.id.eq(slots.id),
            [slot.eq(key[:SLOT_BITS]) for slot, key in zip(issue.brought_slot, slots.brought_key, strict=True)],
            opened.ended.eq(slots.ended),
            opened.ended_of.eq(slots.ended_of),
            opened.fails.eq(slots.fails),
            [part.clear.eq(clears) for part in (descriptors, opened, issue)],
            self.idle.eq(slots.empty & ~read.moving & ~descriptors.busy & ~way.packet.valid),
            clears.eq(waits & self.idle),
            # A halted engine leaves posted descriptors as they are
            self.settled.eq(self.idle & ~waits & ~opened.complete & (self.halted | (self.posted == self.completed))),
        ]
        self.sync += [
            If(self.clear, waits.eq(1)).Elif(clears, waits.eq(0)),
            If(slots.retry & (self.repeated != 2**_COUNT_BITS - 1), self.repeated.eq(self.repeated + 1)),
            If(slots.fails & ~self.halted, self.halted.eq(1), self.reason.eq(slots.why)),
            If(issue.invalid & ~self.halted & ~slots.fails, self.halted.eq(1), self.reason.eq(issue.wrong)),
            If(read.unreadable, slots.unreadable.eq(1)),
            If(clears, self.halted.eq(0), self.reason.eq(0), slots.unreadable.eq(0)),
        ]
