"""Auxiliary packets of DRTIO: a mailbox with the interface of that between boards (`link/line/mailbox.py`), and so with
its registers, for the firmware. Clock domain sys.

A packet is a row of bytes, sent from the lowest bit of the first one on: type and fields, filled up with zeros to 4
bytes beyond a multiple of 8, then the CRC-32 (IEEE 802.3) of all this, 1024 bytes at most. The firmware writes and
reads it in words of 32 bits without CRC. One of an even number of words gets another word of zeros here. What arrives
with a wrong CRC or length, too long, damaged, or while all buffers are in use, is dropped and counted.
"""

from migen import *
from migen.genlib.fifo import SyncFIFOBuffered

from ...contracts.drtio import AUXILIARY_BUFFERS, AUXILIARY_MAX
from ..line.crc import CRC_BITS, CRC_START, ETHERNET, Crc, crc_of
from ..line.mailbox import Mailbox

__all__ = ["CONTENT_WORDS", "auxiliary_mailbox"]

_WORD = 32
_WORDS = AUXILIARY_MAX * 8 // _WORD
CONTENT_WORDS = _WORDS - 1
"""Words of the longest packet without CRC."""


def _residue():
    """The CRC of any packet with its own behind it."""
    crc = crc_of(0, _WORD, polynomial=ETHERNET)
    inverted = 2**CRC_BITS - 1 - crc
    return crc_of(int(f"{inverted:032b}"[::-1], 2), CRC_BITS, crc, ETHERNET)


class _Sender(Module):
    """sink: `auxiliary` of a `WordTransmitter`. `append` (in): adds `word` (in, 32 bits) to the packet; those beyond
    `CONTENT_WORDS` are ignored. `go` (in): it is complete. `busy` (out): it is being sent; meanwhile `append` and `go`
    are ignored."""

    def __init__(self, sink):
        self.word, self.append, self.go, self.busy = Signal(_WORD), Signal(), Signal(), Signal()

        # # #

        width = len(sink.bits)
        parts = _WORD // width
        self.submodules.fifo = fifo = SyncFIFOBuffered(_WORD, CONTENT_WORDS)
        self.submodules.crc = crc = Crc(width, ETHERNET)
        held, sent = Signal(max=_WORDS + 1), Signal(max=_WORDS + 1)
        part, checked = Signal(max=max(2, parts)), Signal(CRC_BITS, reset=CRC_START)
        word, content, ends, leaves = Signal(_WORD), Signal(), Signal(), Signal()
        length = held | 1  # of the content, with a word of zeros
        of_crc = Cat(*[~checked[CRC_BITS - 1 - n] for n in range(CRC_BITS)])
        self.comb += [
            content.eq(sent < length),
            ends.eq(part == parts - 1),
            word.eq(of_crc),
            If(content, word.eq(Mux(sent < held, fifo.dout, 0))),
            fifo.din.eq(self.word),
            fifo.we.eq(self.append & ~self.busy & (held != CONTENT_WORDS)),
            fifo.re.eq(leaves & ends & (sent < held)),
            sink.valid.eq(self.busy & (fifo.readable | (sent >= held))),
            Case(part, {n: sink.bits.eq(word[n * width : (n + 1) * width]) for n in range(parts)}),
            sink.last.eq(~content & ends),
            leaves.eq(sink.valid & sink.ready),
            crc.before.eq(checked),
            crc.data.eq(sink.bits),
        ]
        self.sync += [
            If(fifo.we, held.eq(held + 1)),
            If(self.go & (held != 0), self.busy.eq(1)),
            If(
                leaves,
                If(content, checked.eq(crc.after)),
                part.eq(part + 1),
                If(ends, part.eq(0), sent.eq(sent + 1)),
                If(sink.last, sent.eq(0), held.eq(0), self.busy.eq(0), checked.eq(CRC_START)),
            ),
        ]


class _Receiver(Module):
    """source: a `WordReceiver`. up: packets are received; what has come of one is dropped while they are not.
    `waiting` (out, 9 bits): words of the oldest packet, 0 if there is none; `word` (out, 32 bits): its next word, valid
    two cycles after `take` (in), which advances to the next one; `release` (in): frees the packet. `lost` (out): for a
    cycle, a packet was dropped."""

    def __init__(self, source, up):
        self.waiting, self.word = Signal(max=_WORDS + 1), Signal(_WORD)
        self.take, self.release, self.lost = Signal(), Signal(), Signal()

        # # #

        bits = source.auxiliary.bits
        width = len(bits)
        parts = _WORD // width
        memory = Memory(_WORD, AUXILIARY_BUFFERS * _WORDS)
        write, read = memory.get_port(write_capable=True), memory.get_port()
        self.specials += memory, write, read
        self.submodules.crc = crc = Crc(width, ETHERNET)
        filling, emptying = Signal(max=AUXILIARY_BUFFERS), Signal(max=AUXILIARY_BUFFERS)
        held = Signal(max=AUXILIARY_BUFFERS + 1)
        lengths = Array(Signal(max=_WORDS + 1, name=f"length{n}") for n in range(AUXILIARY_BUFFERS))
        inside, bad, checked = Signal(), Signal(), Signal(CRC_BITS, reset=CRC_START)
        part, number = Signal(max=max(2, parts)), Signal(max=_WORDS + 1)
        before, place = Signal(_WORD), Signal(max=_WORDS)
        ends, whole, arrives, leaves = Signal(), Signal(), Signal(), Signal()
        self.comb += [
            crc.before.eq(checked),
            crc.data.eq(bits),
            ends.eq(inside & source.idle),
            whole.eq(~bad & (part == 0) & ~number[0] & (checked == _residue())),
            arrives.eq(ends & whole),
            self.lost.eq((ends & ~whole) | (inside & ~up)),
            leaves.eq(self.release & (held != 0)),
            write.adr.eq(Cat(number[: len(place)], filling)),
            write.dat_w.eq(Cat(before, bits)[width:]),
            write.we.eq(
                source.auxiliary.valid & (part == parts - 1) & (number != _WORDS) & (held != AUXILIARY_BUFFERS)
            ),
            read.adr.eq(Cat(place, emptying)),
            self.word.eq(read.dat_r),
            If(held != 0, self.waiting.eq(lengths[emptying])),
        ]
        fresh = [inside.eq(0), bad.eq(0), part.eq(0), number.eq(0), checked.eq(CRC_START)]
        self.sync += [
            If(
                source.auxiliary.valid,
                inside.eq(1),
                before.eq(Cat(before, bits)[width:]),
                checked.eq(crc.after),
                part.eq(part + 1),
                If(part == parts - 1, part.eq(0), If(number != _WORDS, number.eq(number + 1)).Else(bad.eq(1))),
                If(held == AUXILIARY_BUFFERS, bad.eq(1)),
            ),
            If(source.wrong & inside, bad.eq(1)),
            If(arrives, lengths[filling].eq(number - 1), filling.eq(filling + 1)),
            held.eq(held + arrives - leaves),
            If(self.take, place.eq(place + 1)),
            If(leaves, emptying.eq(emptying + 1), place.eq(0)),
            If(ends | ~up, *fresh),
        ]


def auxiliary_mailbox(sink, source, up):
    """A `Mailbox` for the packets of a card. sink: `auxiliary` of a `WordTransmitter`. source: a `WordReceiver`. up:
    the line carries words both ways."""
    return Mailbox(sink, source, up, _Sender, _Receiver)
