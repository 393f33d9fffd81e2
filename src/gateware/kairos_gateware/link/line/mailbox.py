"""Auxiliary packets: messages between the firmware of two boards, a client of the link at the rank
of data.

A packet has 1 to `WORDS` words of 32 bits. Each word is sent as a vector of its own, with its
number in the packet, and fills a word of the link, so that a lost word affects only its packet.
There are no credits: a packet for which there is no buffer, or with a missing word, is dropped
whole and counted. The firmware resends lost packets; its packets also carry a CRC.

    firmware ─▶ FIFO, one packet ─▶ vectors ═══▶ BUFFERS buffers of a packet each ─▶ firmware

Throughput: one vector per cycle. Latency: packet complete → its first vector 2; its last vector →
`waiting` 1. Clock domain sys.
"""

from litex.soc.interconnect.csr import CSR, AutoCSR, CSRStatus
from migen import *
from migen.genlib.fifo import SyncFIFOBuffered

from ...csr import uses
from .endpoint import Stream
from .gearbox import Forms

__all__ = ["BUFFERS", "WORDS", "Mailbox", "MailboxRegisters", "auxiliary_stream"]

WORDS = 256
"""Words of the longest packet."""
BUFFERS = 4
_RANK = 2
_NUMBER_BITS = log2_int(WORDS)
_DROPPED_BITS = 16


def auxiliary_stream(number):
    """The stream that carries the packets of one direction."""
    return Stream("auxiliary", number, Forms(word=32 + _NUMBER_BITS + 1), _RANK)


def _vector(data):
    """(word, its number in the packet, whether it is the last) of a vector's data."""
    return data[:32], data[32 : 32 + _NUMBER_BITS], data[32 + _NUMBER_BITS]


class _Sender(Module):
    """`append` (in): adds `word` (in, 32 bits) to the packet; words beyond `WORDS` are ignored. `go` (in):
    the packet is complete. `busy` (out): it is being sent; meanwhile `append` and `go` are ignored. `sink`:
    of the endpoint."""

    def __init__(self, sink):
        self.word, self.append, self.go, self.busy = Signal(32), Signal(), Signal(), Signal()

        # # #

        self.submodules.fifo = fifo = SyncFIFOBuffered(32, WORDS)
        held, sent = Signal(max=WORDS + 1), Signal(_NUMBER_BITS)
        word, number, last = _vector(sink.data)
        leaves = Signal()
        self.comb += [
            fifo.din.eq(self.word),
            fifo.we.eq(self.append & ~self.busy & (held != WORDS)),
            sink.valid.eq(self.busy & fifo.readable),
            sink.form.eq(1),
            word.eq(fifo.dout),
            number.eq(sent),
            last.eq(sent == held - 1),
            leaves.eq(sink.valid & sink.ready),
            fifo.re.eq(leaves),
        ]
        self.sync += [
            If(fifo.we, held.eq(held + 1)),
            If(self.go & (held != 0), self.busy.eq(1)),
            If(leaves, sent.eq(sent + 1), If(last, sent.eq(0), held.eq(0), self.busy.eq(0))),
        ]


class _Receiver(Module):
    """`waiting` (out, 9 bits): words of the oldest packet, 0 if there is none; `word` (out, 32 bits): its
    next word, valid two cycles after `take` (in), which advances to the next word; `release` (in): frees
    the packet. `lost` (out): for a cycle, a packet was dropped. `up`: of the endpoint whose `source` this
    reads; an incomplete packet is discarded when the link goes down."""

    def __init__(self, source, up):
        self.waiting, self.word = Signal(max=WORDS + 1), Signal(32)
        self.take, self.release, self.lost = Signal(), Signal(), Signal()

        # # #

        memory = Memory(32, BUFFERS * WORDS)
        write, read = memory.get_port(write_capable=True), memory.get_port()
        self.specials += memory, write, read
        filling, emptying, held = Signal(max=BUFFERS), Signal(max=BUFFERS), Signal(max=BUFFERS + 1)
        lengths = Array(Signal(max=WORDS + 1, name=f"length{n}") for n in range(BUFFERS))
        expected, inside, place = Signal(_NUMBER_BITS), Signal(), Signal(_NUMBER_BITS)
        word, number, last = _vector(source.data)
        begins, follows, kept, arrives, leaves = [Signal() for _ in range(5)]
        self.comb += [
            begins.eq(source.valid & (number == 0) & (held != BUFFERS)),
            follows.eq(source.valid & inside & (number == expected) & (number != 0)),
            kept.eq(begins | follows),
            arrives.eq(kept & last),
            leaves.eq(self.release & (held != 0)),
            # Either the current packet is cut short, or the one that begins finds no room
            self.lost.eq((source.valid & inside & ~follows) | (source.valid & (number == 0) & ~begins)),
            write.adr.eq(Cat(number, filling)),
            write.dat_w.eq(word),
            write.we.eq(kept),
            read.adr.eq(Cat(place, emptying)),
            self.word.eq(read.dat_r),
            If(held != 0, self.waiting.eq(lengths[emptying])),
        ]
        self.sync += [
            If(source.valid, inside.eq(kept & ~last), expected.eq(number + 1)),
            If(
                arrives,
                Case(filling, {n: length.eq(number + 1) for n, length in enumerate(lengths)}),
                filling.eq(filling + 1),
            ),
            held.eq(held + arrives - leaves),
            If(self.take, place.eq(place + 1)),
            If(leaves, emptying.eq(emptying + 1), place.eq(0)),
            If(~up, inside.eq(0)),
        ]


class Mailbox(Module):
    """sink, source: vectors of `auxiliary_stream`, of an endpoint. up: the endpoint carries words;
    otherwise what is to be sent is dropped. sender, receiver: classes of the halves, for other packets;
    `sender`, `receiver`: these halves. `interrupt`: a packet is waiting. `dropped` (out, 16 bits): number of dropped
    packets; saturates. `settled`: for time skip."""

    def __init__(self, sink, source, up, sender=_Sender, receiver=_Receiver):
        self.up, self.dropped = up, Signal(_DROPPED_BITS)
        self.submodules.sender = ResetInserter()(sender(sink))
        self.submodules.receiver = receiver(source, up)
        self.interrupt = self.receiver.waiting != 0
        self.settled = ~self.sender.busy

        # # #

        self.comb += self.sender.reset.eq(~up)
        self.sync += If(self.receiver.lost & (self.dropped != 2**_DROPPED_BITS - 1), self.dropped.eq(self.dropped + 1))


class MailboxRegisters(Module, AutoCSR):
    """Registers of a mailbox; for their use see src/contracts/registers.toml."""

    USES = uses("mailbox")

    def __init__(self, mailbox):
        self.send = CSR(32, name="send")
        self.go = CSR(name="go")
        self.state = CSRStatus(2, name="state")
        self.waiting = CSRStatus(len(mailbox.receiver.waiting), name="waiting")
        self.receive = CSRStatus(32, name="receive")
        self.release = CSR(name="release")
        self.dropped = CSRStatus(_DROPPED_BITS, name="dropped")

        # # #

        sender, receiver = mailbox.sender, mailbox.receiver
        self.comb += [
            sender.word.eq(self.send.r),
            sender.append.eq(self.send.re),
            sender.go.eq(self.go.re),
            self.state.status.eq(Cat(mailbox.up, sender.busy)),
            self.waiting.status.eq(receiver.waiting),
            self.receive.status.eq(receiver.word),
            receiver.take.eq(self.receive.we),
            receiver.release.eq(self.release.re),
            self.dropped.status.eq(mailbox.dropped),
        ]
