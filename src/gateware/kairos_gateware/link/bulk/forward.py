"""Bulk transfers through a board: forwards packets and answers for boards behind other links.

    link ─▶ way? ─┬─▶ this board's server
                  ├─▶ buffer ─▶ in turn with others' and this board's engine ─▶ link
                  └─▶ buffer ─▶ in turn with others' and this board's engine ─▶ link

A packet is forwarded once all of it has been received with the right CRC, with a new CRC on the
next line; a broken one is answered here, which for fetched data is an answer to the board that waits
for them. Each link has a buffer for each other link, so a packet
waits only for those on the same path (virtual output queues). A line is never held up: a packet
that arrives while its buffer is full is dropped, as is one for a link that is down or does not
exist; the engine that sent it retries, and eventually gives up. So packets and answers cannot
deadlock.

With cross links an answer, or fetched data, may come by another line than that of the engine that waits for it. Answers
are passed on to it; the server that has received data asks it where they belong (`BoardEngines`).

Latency: a packet's length and 5 cycles; of an answer 2. Throughput of each link: one word per
cycle. Clock domain sys.
"""

from functools import reduce
from operator import and_

from migen import *
from migen.genlib.fifo import SyncFIFO
from migen.genlib.roundrobin import SP_CE, RoundRobin

from ..remote.forward import ANSWERS, turns
from ..remote.words import ADDRESS_BITS
from ..switch.routes import crossed_route
from .buffer import PacketBuffer
from .engine import BroughtPort
from .words import (
    ANSWER,
    HEAD,
    KEY_BITS,
    LEFT_BITS,
    LENGTH_BITS,
    SLOTS,
    STATUS_BITS,
    board_of,
    data_words,
    via_of,
)

__all__ = ["BoardEngines", "BulkForwarding", "BulkWay"]


class BulkWay:
    """line: `BulkLine` of a link. Ports for this board's engine and server at the link: `packet`
    and `answer` as those of `BulkSending`; `mine`: the packet being received is for this board;
    `receiving`. `via`: number of the engine, if answers to it come by other lines, too; `arrived`: list of those."""

    def __init__(self, line):
        self.via, self.arrived = 0, []
        self.line, self.receiving = line, line.receiving
        self.packet, self.answer, self.mine = line.sending.packet, line.sending.answer, C(1)


class _Turns(Module):
    """Several `sources` use `out` in turn. ends: `out` accepts in this cycle the last word of a
    piece that must not be interrupted. inside: such a piece has begun."""

    def __init__(self, out, sources, ends, inside):
        self.submodules.turns = turns = RoundRobin(len(sources), SP_CE)
        self.comb += turns.ce.eq(ends | (~inside & ~out.valid))
        cases = {}
        for n, source in enumerate(sources):
            self.comb += turns.request[n].eq(source.valid)
            cases[n] = [getattr(out, name).eq(getattr(source, name)) for name, *_ in source.layout if name != "ready"]
            cases[n].append(source.ready.eq(out.ready))
        self.comb += Case(turns.grant, cases)


class _Packets(Module):
    """Packets of a link that leave by one other link. these: selects the packet being received. `packet`
    (out): the packets, one after the other. `judged`: answers to the others, back to where they came from;
    `judged_on`: those of packets with fetched data, onwards, to the board that waits for them."""

    def __init__(self, line, these):
        self.packet = packet = Record(line.sending.packet.layout)
        self.submodules.buffer = buffer = PacketBuffer(line.receiving, these, C(1))
        self.judged, self.judged_on = [Record(buffer.judged.layout) for _ in range(2)]

        # # #

        left, took = Signal(LEFT_BITS), Signal()
        self.comb += [
            Cat(*[getattr(packet, name) for name, _ in HEAD]).eq(buffer.packets.dout),
            packet.head.eq(left == 0),
            packet.valid.eq(~packet.head | buffer.packets.readable),
            packet.word.eq(buffer.word),
            took.eq(packet.ready & ~packet.head),
            buffer.next.eq(took & ~packet.fetch),
            buffer.left.eq(took & (left == 1)),
            buffer.packets.re.eq(buffer.left),
        ]
        for judged, fetched in [(self.judged, 0), (self.judged_on, 1)]:
            self.comb += [
                judged.valid.eq(buffer.judged.valid & (buffer.judged_fetched == fetched)),
                judged.key.eq(buffer.judged.key),
                judged.status.eq(buffer.judged.status),
                If(buffer.judged_fetched == fetched, buffer.judged.ready.eq(judged.ready)),
            ]
        self.sync += If(packet.valid & packet.ready, left.eq(Mux(packet.head, data_words(packet), left - 1)))


class _Answers(Module):
    """The same for answers, whose key names the board they are for.

    `answer` (out, `ready` in): the oldest one, to be forwarded.
    """

    def __init__(self, receiving, these):
        self.answer = answer = Record([("valid", 1), ("ready", 1), *ANSWER])
        self.submodules.fifo = fifo = SyncFIFO(KEY_BITS + STATUS_BITS, SLOTS)

        # # #

        self.comb += [
            fifo.we.eq(receiving.answer & these),
            fifo.din.eq(Cat(receiving.answer_key, receiving.answer_status)),
            answer.valid.eq(fifo.readable),
            Cat(answer.key, answer.status).eq(fifo.dout),
            fifo.re.eq(answer.ready),
        ]


class BulkForwarding(Module):
    """lines: `BulkLine` of the board's links that have remote memory, by their ports as of
    `crossed_route`. own: number of this board. sizes: boards behind each of its links downwards.
    crosses: `CrossLink` of each.

    `ways`: `BulkWay` of each, by the same ports. `settled` (out): for time skip.
    """

    def __init__(self, lines, own, sizes, crosses=()):
        self.ways = {port: BulkWay(line) for port, line in lines.items()}
        self.settled = Signal()

        # # #

        route = crossed_route(own, sizes, [(cross.destination, cross.size, cross.leads) for cross in crosses])
        ports, first = 2 + len(sizes) + len(crosses), 2 + len(sizes)
        # Data that are fetched go as answers do
        turn = turns(ANSWERS, len(sizes) > 0, first, False)
        packets, answers = {}, {}
        for number, (port, way) in enumerate(self.ways.items(), 1):
            receiving, head = way.receiving, way.receiving.head_of
            board = board_of(receiving.answer_key)
            way.mine, way.via = Signal(), number if crosses else 0
            way.packet, way.answer = Record(way.packet.layout), Record(way.answer.layout)
            leaves, returns = Signal(max=ports), Signal(max=ports)
            self.comb += [
                way.mine.eq(~head.far | (head.destination == own)),
                route(head.destination, leaves),
                route(board, returns),
            ]
            # Packets for the link they came from, or for a missing one, have no buffer: they are
            # dropped
            for other in lines:
                if turn(port, other):
                    packets[port, other] = _Packets(way.line, ~way.mine & (leaves == other))
                    answers[port, other] = _Answers(receiving, (board != own) & (returns == other))
        arrived = self._arrived(own) if crosses else []
        self.submodules += [*packets.values(), *answers.values(), *arrived]
        for port, way in self.ways.items():
            sending = way.line.sending
            into, out = [[pair for pair in packets if pair[end] == port] for end in (1, 0)]
            through, inside, ends = self._pieces(sending.packet)
            consumed = [way.answer, *[packets[pair].judged for pair in out]]
            consumed += [packets[pair].judged_on for pair in into]
            consumed += [answers[pair].answer for pair in into]
            self.submodules += [
                _Turns(sending.packet, [way.packet, *[packets[pair].packet for pair in into]], ends, inside),
                _Turns(sending.answer, consumed, sending.answer.valid & sending.answer.ready, C(0)),
            ]
            self.sync += through
        quiet = [some.buffer.empty for some in packets.values()]
        quiet += [~some.answer.valid for some in [*answers.values(), *arrived]]
        self.comb += self.settled.eq(reduce(and_, quiet, C(1)))

    def _arrived(self, own):
        """Answers for each engine that come by other lines than its own."""
        found = []
        for way in self.ways.values():
            for other in self.ways.values():
                if other is not way:
                    key = other.receiving.answer_key
                    found.append(_Answers(other.receiving, (board_of(key) == own) & (via_of(key) == way.via)))
                    way.arrived.append(found[-1].answer)
        return found

    @staticmethod
    def _pieces(packet):
        """(statements that count its words, whether one has begun, whether its last word is
        taken)."""
        left = Signal(LEFT_BITS)
        goes = packet.valid & packet.ready
        counts = If(goes, left.eq(Mux(packet.head, data_words(packet), left - 1)))
        return counts, left != 0, goes & ~packet.head & (left == 1)


class BoardEngines(Module):
    """The engines of a board with cross links, as its servers see them: fetched data come by any line. count: of the
    engines, each with as many `servers`."""

    def __init__(self, count):
        self.count, self._engines, self._seen = count, {}, []

    def add(self, way, engine):
        """Adds the engine at a `BulkWay`. Returns the `BroughtPort` for the server there."""
        self._engines[way.via] = engine
        seen = BroughtPort(
            Signal(KEY_BITS),
            Signal(),
            Signal(LENGTH_BITS),
            Signal(ADDRESS_BITS),
            Record([("valid", 1), ("ready", 1), *ANSWER]),
        )
        self._seen.append((way.via, seen))
        return seen

    def do_finalize(self):
        for n, (own, seen) in enumerate(self._seen):
            for via, engine in self._engines.items():
                port = engine.servers[n]
                asked, signalled = [
                    (via_of(key) == via) | ((via_of(key) == 0) & int(via == own))
                    for key in (seen.key, seen.written.key)
                ]
                self.comb += [
                    port.key.eq(seen.key),
                    If(asked, seen.expected.eq(port.expected), seen.length.eq(port.length), seen.place.eq(port.place)),
                    port.written.valid.eq(seen.written.valid & signalled),
                    port.written.key.eq(seen.written.key),
                    port.written.status.eq(seen.written.status),
                    If(signalled, seen.written.ready.eq(port.written.ready)),
                ]
