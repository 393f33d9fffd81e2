"""Bulk transfers, the end that takes them: packets that are whole and go to exported memory are written there.

    packet ─▶ buffer ─ CRC right? exported? ─▶ bursts on the memory port ─▶ answer
                       no ─▶ answer

Nothing of a packet is written before all of it has come and its CRC was right, so no wrong bit reaches memory. The
buffer has room for all packets that one end may have under way. Throughput: a word a cycle. Clock domain sys.
"""

from functools import reduce
from operator import or_

from migen import *
from migen.genlib.fifo import SyncFIFO

from ..hp import HpWrite
from .bulk_words import AGAIN, ID_BITS, LENGTH_BITS, PACKET_WORDS, SLOTS, STATUS_BITS
from .remote_far import Region
from .remote_words import ADDRESS_BITS, BUS_ERROR, DONE, REFUSED

__all__ = ["BURST", "BulkServer", "burst_beats"]

BURST = 16
"""Beats of the longest burst of the port, which begin and end within a block of so many words."""
_COUNT_BITS = 16
_BURSTS_OPEN = 32


def burst_beats(address, left):
    """Words of the next burst, of `left` from the word `address` on."""
    room, beats = Signal(max=BURST + 1), Signal(max=BURST + 1)
    return beats, [room.eq(BURST - address[: log2_int(BURST)]), beats.eq(Mux(left < room, left, room))]


class BulkServer(Module):
    """receiving: `BulkReceiving`. answer: `BulkSending.answer`. regions: list of `Region` that apply.

    `bus`: `HpWrite`. Counts, which stop at their greatest value: `refused` packets, `broken` ones, and `dropped` ones
    for want of room. `settled`: nothing goes on.
    """

    def __init__(self, receiving, answer, regions: list[Region]):
        self.bus = HpWrite()
        self.refused, self.broken, self.dropped = [Signal(_COUNT_BITS) for _ in range(3)]
        self.settled = Signal()
        depth = SLOTS * PACKET_WORDS
        self._memory = Memory(64, depth)
        self.specials += self._memory
        self._kept = Signal(max=SLOTS + 1)  # packets in the buffer
        self._left = Signal()  # one has left it

        # # #

        packets, judged = self._take(receiving, regions)
        bursts, splitting = self._split(packets)
        ended = self._write(bursts)
        answers = SyncFIFO(ID_BITS + STATUS_BITS, SLOTS)
        self.submodules += answers
        ended_valid, ended_ready, ended_what = ended
        judged_valid, judged_taken, judged_what = judged
        self.comb += [
            ended_ready.eq(answers.writable),
            answers.we.eq(ended_valid | judged_valid),
            answers.din.eq(Mux(ended_valid, ended_what, judged_what)),
            judged_taken.eq(answers.writable & ~ended_valid),
            answer.valid.eq(answers.readable),
            Cat(answer.id, answer.status).eq(answers.dout),
            answers.re.eq(answer.ready),
            self.settled.eq(
                ~receiving.busy & (self._kept == 0) & ~splitting & ~answers.readable & ~judged_valid & ~self._owed
            ),
        ]

    def _count(self, count, event):
        self.sync += If(event & (count != 2**_COUNT_BITS - 1), count.eq(count + 1))

    def _take(self, receiving, regions):
        """Packets into the buffer. Returns (FIFO of those that are to be written, answers of the others)."""
        r = receiving
        write = self._memory.get_port(write_capable=True)
        self.specials += write
        packets = SyncFIFO(ID_BITS + ADDRESS_BITS + LENGTH_BITS, SLOTS)
        self.submodules += packets
        at, begin = Signal(len(write.adr)), Signal(len(write.adr))
        words, taking, allowed = Signal(LENGTH_BITS + 1), Signal(), Signal()
        last, check = Signal(ADDRESS_BITS + 1), Signal()
        whole, good = Signal(), Signal()
        judged, taken, what = Signal(), Signal(), Signal(ID_BITS + STATUS_BITS)
        self.comb += [
            write.adr.eq(at),
            write.dat_w.eq(r.word),
            write.we.eq(r.data & taking & ~words[-1]),
            whole.eq(r.end & taking & r.good & (words == r.length + 1)),
            good.eq(whole & allowed),
            packets.we.eq(good),
            packets.din.eq(Cat(r.id, r.address, r.length)),
        ]
        within = [
            region.enable & region.writable & (r.address >= region.first) & (last <= region.last) for region in regions
        ]
        self.sync += [
            check.eq(r.head),
            last.eq(r.address + r.length),
            If(check, allowed.eq(reduce(or_, within))),
            If(r.head, at.eq(begin), words.eq(0), taking.eq(self._kept != SLOTS)),
            If(write.we, at.eq(at + 1)),
            If(r.data & ~words[-1], words.eq(words + 1)),
            If(good, begin.eq(at)),
            self._kept.eq(self._kept + good - self._left),
            If(taken, judged.eq(0)),
            If(
                r.end & taking & ~good,
                judged.eq(1),
                what.eq(Cat(r.id, Mux(whole, REFUSED, C(AGAIN, STATUS_BITS)))),
            ),
        ]
        self._count(self.refused, whole & ~allowed)
        self._count(self.broken, r.end & taking & ~whole)
        self._count(self.dropped, r.end & ~taking)
        return packets, (judged, taken, what)

    def _split(self, packets):
        """Packets into bursts. Returns (FIFO of bursts, there is one to come)."""
        bursts = SyncFIFO(ADDRESS_BITS + log2_int(BURST) + 1 + ID_BITS, 4)
        self.submodules += bursts
        left, address, id_ = Signal(LENGTH_BITS + 1), Signal(ADDRESS_BITS), Signal(ID_BITS)
        length = Signal(LENGTH_BITS)
        beats, chooses = burst_beats(address, left)
        next_id, next_address = Signal(ID_BITS), Signal(ADDRESS_BITS)
        self.comb += [
            *chooses,
            Cat(next_id, next_address, length).eq(packets.dout),
            packets.re.eq(left == 0),
            bursts.we.eq(left != 0),
            bursts.din.eq(Cat(address, (beats - 1)[: log2_int(BURST)], beats == left, id_)),
        ]
        self.sync += If(
            left == 0,
            If(packets.readable, left.eq(length + 1), address.eq(next_address), id_.eq(next_id)),
        ).Elif(bursts.writable, left.eq(left - beats), address.eq(address + beats))
        return bursts, left != 0

    def _write(self, bursts):
        """Bursts to the port. Returns the answers of packets: (valid, ready, what)."""
        bus = self.bus
        read = self._memory.get_port()
        self.specials += read
        owed = SyncFIFO(1 + ID_BITS, _BURSTS_OPEN)
        self.submodules += owed
        address, beats, length = Signal(ADDRESS_BITS), Signal(log2_int(BURST)), Signal(log2_int(BURST))
        next_last, next_id, next_beats = Signal(), Signal(ID_BITS), Signal.like(beats)
        asks, writes, last = Signal(), Signal(), Signal()
        place, after = Signal(len(read.adr)), Signal(len(read.adr))
        wrote, ends, loads, next_address = Signal(), Signal(), Signal(), Signal(ADDRESS_BITS)
        self._owed = asks | writes | owed.readable | bursts.readable
        self.comb += [
            bus.awvalid.eq(asks),
            bus.awaddr.eq(Cat(C(0, 3), address)),
            bus.awlen.eq(length),
            bus.wvalid.eq(writes),
            bus.wlast.eq(beats == 0),
            bus.wdata.eq(read.dat_r),
            bus.wstrb.eq(2**8 - 1),
            wrote.eq(writes & bus.wready),
            ends.eq((~asks | bus.awready) & (~writes | (wrote & (beats == 0)))),
            loads.eq(ends & bursts.readable & owed.writable),
            bursts.re.eq(loads),
            Cat(next_address, next_beats, next_last, next_id).eq(bursts.dout),
            owed.we.eq(loads),
            owed.din.eq(Cat(next_last, next_id)),
            after.eq(place + wrote),
            read.adr.eq(after),
            self._left.eq(wrote & (beats == 0) & last),
        ]
        self.sync += [
            place.eq(after),
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
        told_last, told_id, wrong = Signal(), Signal(ID_BITS), Signal()
        ready = Signal()
        self.comb += [
            Cat(told_last, told_id).eq(owed.dout),
            bus.bready.eq(ready | ~told_last),
            owed.re.eq(bus.bvalid & bus.bready),
        ]
        self.sync += If(owed.re, wrong.eq(~told_last & (wrong | bus.bresp[1])))
        status = Mux(wrong | bus.bresp[1], C(BUS_ERROR, STATUS_BITS), C(DONE, STATUS_BITS))
        return bus.bvalid & told_last, ready, Cat(told_id, status)
