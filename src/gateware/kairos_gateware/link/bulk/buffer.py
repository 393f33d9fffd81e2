"""Buffer of received bulk packets: keeps each until it is complete and valid; nothing of any other
is passed on.

    packet ─▶ memory ─ CRC right? allowed? ─▶ packets
                       no ─▶ answer

The memory has room for all packets that one end may have in flight. Throughput: one word per cycle.
Clock domain sys.
"""

from migen import *
from migen.genlib.fifo import SyncFIFO

from ..remote.words import REFUSED
from .words import AGAIN, ANSWER, HEAD, LENGTH_BITS, PACKET_WORDS, SLOTS, STATUS_BITS, data_words

__all__ = ["PacketBuffer"]


class PacketBuffer(Module):
    """receiving: `BulkReceiving`. mine: the packet with its `head_of` is for this buffer. allowed:
    it may be passed on, with `address` instead of its own; both valid two cycles after the head.

    `packets`: FIFO of the heads of packets that may be passed on. `word` (out, 64 bits): the next one of
    their words, which are consecutive; `next` (in): it has been taken, `left` (in): it was the last one of
    its packet; `passed` (in): a request, which has none, has been taken. `judged` (out): answers to the others,
    which brought fetched data if `judged_fetched` (out). For a cycle: a packet was `refused`, `broken` (out)
    on reception, or `dropped` (out) for lack of room. `empty` (out): nothing is kept.
    """

    def __init__(self, receiving, mine, allowed, address=None):
        depth = SLOTS * PACKET_WORDS
        self.submodules.packets = packets = SyncFIFO(sum(width for _, width in HEAD), SLOTS)
        self.word, self.next, self.left, self.passed = Signal(64), Signal(), Signal(), Signal()
        self.judged = judged = Record([("valid", 1), ("ready", 1), *ANSWER])
        self.judged_fetched = Signal()
        self.refused, self.broken, self.dropped, self.empty = [Signal() for _ in range(4)]

        # # #

        r, memory = receiving, Memory(64, depth)
        write, read = memory.get_port(write_capable=True), memory.get_port()
        self.specials += memory, write, read
        at, begin, place, after = [Signal(max=depth) for _ in range(4)]
        words, taking, kept = Signal(LENGTH_BITS + 1), Signal(), Signal(max=SLOTS + 1)
        ends, whole, good, kept_head = Signal(), Signal(), Signal(), Record(HEAD)
        self.comb += [
            write.adr.eq(at),
            write.dat_w.eq(r.word),
            write.we.eq(r.data & taking & ~words[-1] & ~r.head_of.fetch),
            ends.eq(r.end & taking),
            whole.eq(ends & r.good & (words == data_words(r.head_of))),
            good.eq(whole & allowed),
            packets.we.eq(good),
            kept_head.eq(r.head_of),
            [] if address is None else kept_head.address.eq(address),
            packets.din.eq(kept_head.raw_bits()),
            self.refused.eq(whole & ~allowed & ~r.head_of.fetched),
            self.broken.eq(ends & ~whole),
            self.dropped.eq(r.end & mine & ~taking),
            self.empty.eq((kept == 0) & ~judged.valid),
            after.eq(place + self.next),
            read.adr.eq(after),
            self.word.eq(read.dat_r),
        ]
        self.sync += [
            place.eq(after),
            If(r.head, at.eq(begin), words.eq(0), taking.eq(mine & (kept != SLOTS))),
            If(write.we, at.eq(at + 1)),
            If(r.data & ~words[-1], words.eq(words + 1)),
            If(good, begin.eq(at)),
            kept.eq(kept + good - self.left - self.passed),
            If(judged.ready, judged.valid.eq(0)),
            If(
                ends & ~good,
                judged.valid.eq(1),
                judged.key.eq(r.head_of.key),
                self.judged_fetched.eq(r.head_of.fetched),
                judged.status.eq(Mux(whole, REFUSED, C(AGAIN, STATUS_BITS))),
            ),
        ]
