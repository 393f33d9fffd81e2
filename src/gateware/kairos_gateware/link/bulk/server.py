"""Bulk transfers, receiving end: writes intact packets for exported memory, and those with data that
this board has fetched. What another board fetches is sent by this board's `BulkEngine`.

    packet ─▶ buffer ─ CRC right? exported? ─▶ bursts on the memory port ─▶ answer
                       no ─▶ answer       └──▶ requests for data ─▶ engine

Nothing of a packet is written before all of it has been received with the right CRC
(`PacketBuffer`), so no bit error reaches memory. Throughput: one word per cycle. Clock domain sys.
"""

from collections.abc import Callable
from functools import reduce
from operator import or_

from migen import *
from migen.genlib.fifo import SyncFIFO

from ...hp import HpWrite
from ..remote.server import Region, first_offset
from ..remote.words import ADDRESS_BITS, BOARD_BITS, BUS_ERROR, DONE
from .buffer import PacketBuffer
from .words import ASKED, HEAD, KEY_BITS, LENGTH_BITS, SLOTS, STATUS_BITS, board_of

__all__ = ["BURST", "BulkServer", "burst_beats"]

BURST = 16
"""Beats of the longest burst on the port; bursts do not cross the boundaries of blocks of so many
words."""
_COUNT_BITS = 16
_BURSTS_OPEN = 32
_WHOSE_BITS = 1 + KEY_BITS
"""Of a packet: whether it brings fetched data, and its key."""
_ANSWER_BITS = _WHOSE_BITS + STATUS_BITS


def burst_beats(address, left):
    """Words of the next burst, of `left` from the word `address` on."""
    room, beats = Signal(max=BURST + 1), Signal(max=BURST + 1)
    return beats, [room.eq(BURST - address[: log2_int(BURST)]), beats.eq(Mux(left < room, left, room))]


class BulkServer(Module):
    """way: `BulkWay` of the link. regions: list of `Region` that apply, or a function to it from the board that asks, a
    signal. engine: `BulkEngine` of the link. brought: `BroughtPort` for packets with fetched data; None: that engine's.

    `board` (in, 3 bits): number of this board; a packet for another one that ends here is rejected. `bus`:
    `HpWrite`. Saturating counts of packets: `refused`, `broken` (out, 16 bits), and `dropped` (out, 16
    bits) for lack of room. `settled` (out): nothing is in progress.
    """

    def __init__(self, way, regions: list[Region] | Callable, engine, brought=None):
        self.board = Signal(BOARD_BITS)
        self.bus = HpWrite()
        self.refused, self.broken, self.dropped = [Signal(_COUNT_BITS) for _ in range(3)]
        self.settled = Signal()

        # # #

        self._brought = brought = engine.servers[0] if brought is None else brought
        allowed, address = self._allowed(way.receiving, regions)
        self.submodules.buffer = buffer = PacketBuffer(way.receiving, way.mine, allowed, address)
        asked = SyncFIFO(sum(width for _, width in ASKED), SLOTS)
        bursts, splitting = self._split(buffer, asked)
        ended_valid, ended_ready, ended_what = self._write(bursts, buffer)
        answers = SyncFIFO(_ANSWER_BITS, SLOTS)
        self.submodules += asked, answers
        answer, judged, written, fetched = way.answer, buffer.judged, brought.written, Signal()
        for name in ("refused", "broken", "dropped"):
            self._count(getattr(self, name), getattr(buffer, name))
        self.comb += [
            ended_ready.eq(answers.writable),
            answers.we.eq(ended_valid | judged.valid),
            answers.din.eq(Mux(ended_valid, ended_what, Cat(buffer.judged_fetched, judged.key, judged.status))),
            judged.ready.eq(answers.writable & ~ended_valid),
            # The answer to fetched data is for this board's engine
            Cat(fetched, answer.key, answer.status).eq(answers.dout),
            Cat(written.key, written.status).eq(Cat(answer.key, answer.status)),
            answer.valid.eq(answers.readable & ~fetched),
            written.valid.eq(answers.readable & fetched),
            answers.re.eq(Mux(fetched, written.ready, answer.ready)),
            engine.asked.valid.eq(asked.readable),
            Cat(*[getattr(engine.asked, name) for name, _ in ASKED]).eq(asked.dout),
            asked.re.eq(engine.asked.ready),
            self.settled.eq(
                ~way.receiving.busy & buffer.empty & ~splitting & ~asked.readable & ~answers.readable & ~self._owed
            ),
        ]

    def _count(self, count, event):
        self.sync += If(event & (count != 2**_COUNT_BITS - 1), count.eq(count + 1))

    def _allowed(self, receiving, regions):
        """(whether all of the received packet lies in one region, or it brings what the engine expects, and it is
        for this board; address of its first word here)."""
        r, head, brought = receiving, receiving.head_of, self._brought
        if callable(regions):
            regions = regions(board_of(head.key))
        last, check, allowed, address = Signal(ADDRESS_BITS + 1), Signal(), Signal(), Signal(ADDRESS_BITS)
        within = [
            # Copies go through a port that is not coherent
            region.allows(head.address, ~head.fetch, board_of(head.key), last) & ~region.coherent
            for region in regions
        ]
        expected = brought.expected & (brought.length == head.length)
        here = ~head.far | (head.destination == self.board)
        self.comb += brought.key.eq(head.key)
        self.sync += [
            check.eq(r.head),
            last.eq(head.address + head.length),
            If(
                check,
                allowed.eq(Mux(head.fetched, expected, reduce(or_, within)) & here),
                address.eq(Mux(head.fetched, brought.place, head.address + first_offset(regions, within))),
            ),
        ]
        return allowed, address

    def _split(self, buffer, asked):
        """Splits packets into bursts, and passes requests for data to a FIFO `asked`. Returns (FIFO of bursts,
        whether one is to come)."""
        packets = buffer.packets
        bursts = SyncFIFO(ADDRESS_BITS + log2_int(BURST) + 1 + _WHOSE_BITS, 4)
        self.submodules += bursts
        left, address, whose = Signal(LENGTH_BITS + 1), Signal(ADDRESS_BITS), Signal(_WHOSE_BITS)
        beats, chooses = burst_beats(address, left)
        head = Record(HEAD)
        self.comb += [
            *chooses,
            head.raw_bits().eq(packets.dout),
            packets.re.eq((left == 0) & (~head.fetch | asked.writable)),
            asked.we.eq((left == 0) & packets.readable & head.fetch),
            asked.din.eq(Cat(*[getattr(head, name) for name, _ in ASKED])),
            buffer.passed.eq(asked.we & asked.writable),
            bursts.we.eq(left != 0),
            bursts.din.eq(Cat(address, (beats - 1)[: log2_int(BURST)], beats == left, whose)),
        ]
        self.sync += If(
            left == 0,
            If(
                packets.readable & ~head.fetch,
                left.eq(head.length + 1),
                address.eq(head.address),
                whose.eq(Cat(head.fetched, head.key)),
            ),
        ).Elif(bursts.writable, left.eq(left - beats), address.eq(address + beats))
        return bursts, left != 0

    def _write(self, bursts, buffer):
        """Writes bursts to the port. Returns the answers of packets: (valid, ready, contents)."""
        bus = self.bus
        owed = SyncFIFO(1 + _WHOSE_BITS, _BURSTS_OPEN)
        self.submodules += owed
        address, beats, length = Signal(ADDRESS_BITS), Signal(log2_int(BURST)), Signal(log2_int(BURST))
        next_last, next_whose, next_beats = Signal(), Signal(_WHOSE_BITS), Signal.like(beats)
        asks, writes, last = Signal(), Signal(), Signal()
        wrote, ends, loads, next_address = Signal(), Signal(), Signal(), Signal(ADDRESS_BITS)
        self._owed = asks | writes | owed.readable | bursts.readable
        self.comb += [
            bus.awvalid.eq(asks),
            bus.awaddr.eq(Cat(C(0, 3), address)),
            bus.awlen.eq(length),
            bus.wvalid.eq(writes),
            bus.wlast.eq(beats == 0),
            bus.wdata.eq(buffer.word),
            bus.wstrb.eq(2**8 - 1),
            wrote.eq(writes & bus.wready),
            ends.eq((~asks | bus.awready) & (~writes | (wrote & (beats == 0)))),
            loads.eq(ends & bursts.readable & owed.writable),
            bursts.re.eq(loads),
            Cat(next_address, next_beats, next_last, next_whose).eq(bursts.dout),
            owed.we.eq(loads),
            owed.din.eq(Cat(next_last, next_whose)),
            buffer.next.eq(wrote),
            buffer.left.eq(wrote & (beats == 0) & last),
        ]
        self.sync += [
            If(bus.awready, asks.eq(0)),
            If(wrote, beats.eq(beats - 1), If(beats == 0, writes.eq(0))),
            If(
                loads,
                asks.eq(1),
                writes.eq(1),
                address.eq(next_address),
                beats.eq(next_beats),
                length.eq(next_beats),
                last.eq(next_last),
            ),
        ]
        owed_last, owed_whose, wrong = Signal(), Signal(_WHOSE_BITS), Signal()
        ready = Signal()
        self.comb += [
            Cat(owed_last, owed_whose).eq(owed.dout),
            bus.bready.eq(ready | ~owed_last),
            owed.re.eq(bus.bvalid & bus.bready),
        ]
        self.sync += If(owed.re, wrong.eq(~owed_last & (wrong | bus.bresp[1])))
        status = Mux(wrong | bus.bresp[1], C(BUS_ERROR, STATUS_BITS), C(DONE, STATUS_BITS))
        return bus.bvalid & owed_last, ready, Cat(owed_whose, status)
