"""Bulk transfers through a board: packets and answers that are for boards behind other links go on there.

    link ─▶ mine? ─┬─▶ this board's server                    ┌─▶ link
                   └─▶ buffer ─▶ way, in turn with others' ───┤
                                   this board's engine ───────┘

A packet goes on when all of it has come and its CRC was right, with a CRC of its own on the next line; one that came
broken is answered here. Nothing is ever held up on a line: a packet that comes while the buffer is full is dropped, as
is one for a link that is down or that there is not, and the engine that sent it does so again, and gives up in time. So
packets and answers cannot wait for each other in a circle.

Latency: a packet's length and 5 cycles; of an answer 2. Throughput of each link: a word a cycle. Clock domain sys.
"""

from functools import reduce
from operator import and_, or_

from migen import *
from migen.genlib.fifo import SyncFIFO
from migen.genlib.roundrobin import SP_CE, RoundRobin

from .bulk_buffer import PacketBuffer
from .bulk_words import ANSWER, HEAD, ID_BITS, KEY_BITS, LEFT_BITS, SLOTS, STATUS_BITS

__all__ = ["BulkForwarding", "BulkWay"]


class BulkWay:
    """line: `BulkLine` of a link. What this board's engine and server at the link use: `packet` and `answer` as those
    of `BulkSending`, `mine`: the packet that comes is for this board, `receiving`."""

    def __init__(self, line):
        self.line, self.receiving = line, line.receiving
        self.packet, self.answer, self.mine = line.sending.packet, line.sending.answer, C(1)


class _Turns(Module):
    """Several `sources` use `out` in turn. wants: a signal for each, what it has is for here. ends: what `out` takes in
    this cycle is the last of a piece that must not be interrupted. inside: such a piece has begun.

    `taken`: for each of them, as their `ready`."""

    def __init__(self, out, sources, wants, ends, inside):
        self.taken = [Signal() for _ in sources]

        # # #

        self.submodules.turns = turns = RoundRobin(len(sources), SP_CE)
        self.comb += turns.ce.eq(ends | (~inside & ~out.valid))
        cases = {}
        for n, (source, want) in enumerate(zip(sources, wants, strict=True)):
            self.comb += turns.request[n].eq(source.valid & want)
            cases[n] = [getattr(out, name).eq(getattr(source, name)) for name, *_ in source.layout if name != "ready"]
            cases[n] += [out.valid.eq(source.valid & want), self.taken[n].eq(out.ready & want)]
        self.comb += Case(turns.grant, cases)


class _Packets(Module):
    """Packets of a link that are for other boards. foreign: the one that comes is. route: from a destination to the
    number of a port, as of `tree_route`. `packet`: they, one after the other; `port`: by which it leaves."""

    def __init__(self, line, foreign, route, ports):
        self.packet, self.port = packet, port = Record(line.sending.packet.layout), Signal(max=ports)
        self.submodules.buffer = buffer = PacketBuffer(line.receiving, foreign, C(1))

        # # #

        left, now, kept = Signal(LEFT_BITS), Signal.like(port), Signal.like(port)
        self.comb += [
            Cat(*[getattr(packet, name) for name, _ in HEAD]).eq(buffer.packets.dout),
            packet.head.eq(left == 0),
            packet.valid.eq(~packet.head | buffer.packets.readable),
            packet.word.eq(buffer.word),
            buffer.next.eq(packet.ready & ~packet.head),
            buffer.left.eq(buffer.next & (left == 1)),
            buffer.packets.re.eq(buffer.left),
            route(packet.destination, now),
            port.eq(Mux(packet.head, now, kept)),
        ]
        self.sync += [
            If(packet.head, kept.eq(now)),
            If(packet.valid & packet.ready, left.eq(Mux(packet.head, packet.length + 1, left - 1))),
        ]


class _Answers(Module):
    """The same of answers, whose key tells for which board they are."""

    def __init__(self, receiving, own, route, ports):
        self.answer, self.port = answer, port = Record([("valid", 1), ("ready", 1), *ANSWER]), Signal(max=ports)
        self.submodules.fifo = fifo = SyncFIFO(KEY_BITS + STATUS_BITS, SLOTS)

        # # #

        self.comb += [
            fifo.we.eq(receiving.answer & (receiving.answer_key[ID_BITS:] != own)),
            fifo.din.eq(Cat(receiving.answer_key, receiving.answer_status)),
            answer.valid.eq(fifo.readable),
            Cat(answer.key, answer.status).eq(fifo.dout),
            fifo.re.eq(answer.ready),
            route(answer.key[ID_BITS:], port),
        ]


class BulkForwarding(Module):
    """lines: `BulkLine` of the board's links that have remote memory, by their ports as of `tree_route`. own: number of
    this board. sizes: boards behind each of its links downwards. route: of `tree_route`.

    `ways`: `BulkWay` of each, by the same ports. `settled`: for time skip."""

    def __init__(self, lines, own, sizes, route):
        self.ways = {port: BulkWay(line) for port, line in lines.items()}
        self.settled = Signal()

        # # #

        route, ports = route(own, sizes), 2 + len(sizes)
        packets, answers, ready = {}, {}, {}
        for port, way in self.ways.items():
            head = way.receiving.head_of
            way.mine = Signal()
            self.comb += way.mine.eq(~head.far | (head.destination == own))
            way.packet, way.answer = Record(way.packet.layout), Record(way.answer.layout)
            packets[port] = _Packets(way.line, ~way.mine, route, ports)
            answers[port] = _Answers(way.receiving, own, route, ports)
            self.submodules += packets[port], answers[port]
            # What would go back, or where nobody is: it is dropped
            for what, it in [("packet", packets[port]), ("answer", answers[port])]:
                known = reduce(or_, [it.port == other for other in lines if other != port], C(0))
                ready[what, port] = [~known]
        for port, way in self.ways.items():
            sending = way.line.sending
            others = [other for other in lines if other != port]
            through, inside, ends = self._pieces(sending.packet)
            sources = [(way.packet, 1), *[(packets[other].packet, packets[other].port == port) for other in others]]
            turns = _Turns(sending.packet, *zip(*sources, strict=True), ends, inside)
            back = packets[port].buffer.judged
            told = [(way.answer, 1), (back, 1)]
            told += [(answers[other].answer, answers[other].port == port) for other in others]
            answered = _Turns(
                sending.answer, *zip(*told, strict=True), sending.answer.valid & sending.answer.ready, C(0)
            )
            self.submodules += turns, answered
            self.sync += through
            self.comb += way.packet.ready.eq(turns.taken[0])
            self.comb += [way.answer.ready.eq(answered.taken[0]), back.ready.eq(answered.taken[1])]
            for other, taken, told_taken in zip(others, turns.taken[1:], answered.taken[2:], strict=True):
                ready["packet", other].append(taken)
                ready["answer", other].append(told_taken)
        for port in lines:
            self.comb += packets[port].packet.ready.eq(reduce(or_, ready["packet", port]))
            self.comb += answers[port].answer.ready.eq(reduce(or_, ready["answer", port]))
        quiet = [packets[port].buffer.empty & ~answers[port].answer.valid for port in lines]
        self.comb += self.settled.eq(reduce(and_, quiet))

    @staticmethod
    def _pieces(packet):
        """(statements that count its words, one has begun, the last word of one is taken)."""
        left = Signal(LEFT_BITS)
        goes = packet.valid & packet.ready
        counts = If(goes, left.eq(Mux(packet.head, packet.length + 1, left - 1)))
        return counts, left != 0, goes & ~packet.head & (left == 1)
