"""Bench for tests and figures of bulk transfers: boards with a memory at each end of their links,
whose engines copy from one to the other while the endpoints between them carry other traffic."""

from types import SimpleNamespace

from migen import *
from migen.genlib.fifo import SyncFIFO

from ..link.bulk.engine import BulkEngine
from ..link.bulk.forward import BoardEngines, BulkForwarding, BulkWay
from ..link.bulk.line import BulkLine
from ..link.bulk.server import BulkServer
from ..link.line.coding import LineReceiver, LineTransmitter
from ..link.line.endpoint import Endpoint, Stream
from ..link.line.gearbox import Forms
from ..link.line.reliable import Reliability
from ..link.remote.server import Region
from ..link.switch.routes import UP
from .fibre import Fibre
from .link import StreamTraffic

__all__ = ["BulkCrossed", "MEMORY_WORDS", "BulkBoard", "BulkChain", "BulkEnd", "BulkPair"]

MEMORY_WORDS = 4096
_LATENCY = 30
_ADDRESS = log2_int(MEMORY_WORDS)


class _Port(Module):
    """A memory of `MEMORY_WORDS` at address 0, with ports like those of the processing system: the
    first beat arrives `_LATENCY` cycles after the address, bursts are back to back; addresses
    beyond it return errors. While `stall`, nothing is accepted. Two readers, the first of which has
    few bursts. `poke`: a word is written (`index`, `value`); `peek`: the word at `index`, a cycle
    later."""

    def __init__(self, readers, writer):
        self.poke, self.index, self.value, self.peek = Signal(), Signal(_ADDRESS), Signal(64), Signal(64)
        self.stall = Signal()

        # # #

        memory = Memory(64, MEMORY_WORDS)
        self.specials += memory
        for reader in readers:
            self._read(memory, reader)
        self._write(memory, writer)
        port = memory.get_port(write_capable=True)
        self.specials += port
        self.comb += [
            port.adr.eq(self.index),
            port.we.eq(self.poke),
            port.dat_w.eq(self.value),
            self.peek.eq(port.dat_r),
        ]

    def _read(self, memory, bus):
        port = memory.get_port(async_read=True)
        asked = SyncFIFO(33 + 4, 16)
        self.specials += port
        self.submodules += asked
        beat, address, beats, now = Signal(4), Signal(29), Signal(4), Signal(29)
        self.comb += [
            bus.arready.eq(asked.writable & ~self.stall),
            asked.we.eq(bus.arvalid & bus.arready),
            asked.din.eq(Cat(bus.araddr[3:], bus.arlen)),
            Cat(address, beats).eq(asked.dout),
            now.eq(address + beat),
            port.adr.eq(now),
            asked.re.eq(asked.readable & (beat == beats)),
        ]
        self.sync += If(asked.readable, beat.eq(Mux(beat == beats, 0, beat + 1)))
        late = Cat(asked.readable, beat == beats, now >= MEMORY_WORDS, port.dat_r)
        for _ in range(_LATENCY - 1):
            before, late = late, Signal(67)
            self.sync += late.eq(before)
        self.comb += Cat(bus.rvalid, bus.rlast, bus.rresp[1], bus.rdata).eq(late)

    def _write(self, memory, bus):
        port = memory.get_port(write_capable=True)
        asked, answers = SyncFIFO(33, 16), SyncFIFO(1, 64)
        self.specials += port
        self.submodules += asked, answers
        beat, now = Signal(4), Signal(29)
        ends = Signal()
        late = Cat(ends, (now >= MEMORY_WORDS) | (beat != asked.dout[29:]))
        for _ in range(_LATENCY - 1):
            before, late = late, Signal(2)
            self.sync += late.eq(before)
        self.comb += [
            bus.awready.eq(asked.writable & ~self.stall),
            asked.we.eq(bus.awvalid & bus.awready),
            asked.din.eq(Cat(bus.awaddr[3:], bus.awlen)),
            now.eq(asked.dout[:29] + beat),
            bus.wready.eq(asked.readable & ~self.stall),
            port.adr.eq(now),
            port.dat_w.eq(bus.wdata),
            port.we.eq(bus.wvalid & bus.wready & (now < MEMORY_WORDS)),
            ends.eq(bus.wvalid & bus.wready & bus.wlast),
            asked.re.eq(ends),
            answers.we.eq(late[0]),
            answers.din.eq(late[1]),
            bus.bvalid.eq(answers.readable),
            bus.bresp[1].eq(answers.dout),
            answers.re.eq(bus.bvalid & bus.bready),
        ]
        self.sync += If(bus.wvalid & bus.wready, beat.eq(Mux(bus.wlast, 0, beat + 1)))


class BulkEnd(Module):
    """An end of the link. traffic: seed of the traffic of its other streams; None: they are idle.
    `line`: `BulkLine`."""

    def __init__(self, traffic=None):
        if traffic is None:
            streams = [Stream("idle", 1, Forms(word=40), 0, 4)]
            self.submodules.endpoint = endpoint = Endpoint(streams, streams, Reliability())
            self.gaps, self.wrong = Signal(), Signal()
            self.offering = Signal()
        else:
            self.submodules.traffic = other = StreamTraffic(traffic, reliability=Reliability())
            endpoint, self.offering, self.gaps, self.wrong = other.endpoint, other.offering, other.gaps, other.wrong
        self.endpoint = endpoint
        self.submodules.line = BulkLine(endpoint)


class BulkBoard(Module):
    """end: `BulkEnd` of the link, with the memory of the board `number` there. The second half of
    the memory is exported and writable. way: `BulkWay`; None: the end's own. engines: `BoardEngines`, if fetched data
    may come by other ends. `waited`: greatest
    number of cycles for which a word of the endpoint waited that could have been sent without bulk
    data."""

    def __init__(self, end, way=None, number=0, timeout=2048, engines=None):
        self.submodules.end, endpoint, self.line = end, end.endpoint, end.line
        line, way = self.line, BulkWay(end.line) if way is None else way
        self.submodules.engine = engine = BulkEngine(way, timeout, servers=1 if engines is None else engines.count)
        brought = None if engines is None else engines.add(way, engine)
        region = Region()
        waits, waited = Signal(8), Signal(8)
        other = endpoint.out
        self.sync += [
            If(other.valid & ~other.ready & line.out.ready, waits.eq(waits + 1)).Else(waits.eq(0)),
            If(waits > waited, waited.eq(waits)),
        ]
        self.submodules.server = server = BulkServer(way, [region], engine, brought)
        self.submodules.port = port = _Port([engine.bus_ring, engine.bus_data], server.bus)
        self.comb += [
            engine.board.eq(number),
            server.board.eq(number),
            region.enable.eq(1),
            region.writable.eq(1),
            region.first.eq(MEMORY_WORDS // 2),
            # and some words that do not exist
            region.last.eq(2 * MEMORY_WORDS - 1),
        ]
        self.inputs = {
            "poke": port.poke,
            "index": port.index,
            "value": port.value,
            "stall": port.stall,
            "posted": engine.posted,
            "early": engine.early,
            "clear": engine.clear,
            "offering": end.offering,
        }
        self.outputs = {
            "peek": port.peek,
            "completed": engine.completed,
            "done": engine.done,
            "halted": engine.halted,
            "reason": engine.reason,
            "repeated": engine.repeated,
            "idle": engine.idle,
            "refused": server.refused,
            "broken": server.broken,
            "dropped": server.dropped,
            "settled": server.settled,
            "gaps": end.gaps,
            "wrong": end.wrong,
            "up": endpoint.up,
            "waited": waited,
        }


def _ports(boards):
    """(inputs, outputs) of all by their names, for a verilated bench."""
    tables = [{name: [] for name in getattr(boards[0], names)} for names in ("inputs", "outputs")]
    for board in boards:
        for table, names in zip(tables, (board.inputs, board.outputs), strict=True):
            for name, signal in names.items():
                table[name].append(signal)
    return tables


class _Words(Module):
    """Passes words from one line to another, `delay` cycles later, with bits inverted."""

    def __init__(self, source, sink, delay, plugged, flips):
        self.submodules.fibre = fibre = Fibre(delay)
        come = Record(sink.into.layout)
        self.comb += [
            fibre.delay.eq(delay),
            fibre.plugged.eq(plugged),
            *fibre.between(source.out, come),
            sink.into.valid.eq(come.valid),
            sink.into.word.eq(come.word ^ flips),
        ]


class BulkPair(Module):
    """delay: cycles of the line. coded: through line coders, 64 bits per cycle. traffic: other
    streams are busy, too.

    `boards`: a `BulkBoard` each. `plugged`; `flips`: bits to invert in the arriving words of each.
    """

    def __init__(self, delay=20, coded=False, traffic=False, **options):
        self.boards = [BulkBoard(BulkEnd(n if traffic else None), **options) for n in range(2)]
        self.submodules += self.boards
        self.plugged, self.flips = Signal(), [Signal(64), Signal(64)]
        for n in range(2):
            source, sink = self.boards[n].line, self.boards[1 - n].line
            self.comb += sink.line.eq(self.plugged)
            (self._coded if coded else self._words)(source, sink, delay, self.flips[1 - n])
        self.inputs, self.outputs = _ports(self.boards)
        self.inputs |= {"plugged": self.plugged, "flips": self.flips}

    def _words(self, source, sink, delay, flips):
        self.submodules += _Words(source, sink, delay, self.plugged, flips)

    def _coded(self, source, sink, delay, flips):
        transmitter, receiver = LineTransmitter(), LineReceiver()
        self.submodules += transmitter, receiver
        bits = transmitter.line
        for _ in range(delay - 1):
            before, bits = bits, Signal(64)
            self.sync += bits.eq(before)
        self.comb += [
            transmitter.word.valid.eq(source.out.valid),
            transmitter.word.word.eq(source.out.word),
            source.out.ready.eq(transmitter.word.ready),
            receiver.line.eq(bits ^ flips),
            sink.into.valid.eq(receiver.word.valid),
            sink.into.word.eq(receiver.word.word),
        ]


class _Cables(Module):
    """The lines of a bench between its boards, two ends each. Gives it `plugged`, `flips`, `inputs` and `outputs`."""

    def __init__(self, bench, delay):
        boards = bench.boards
        bench.plugged, bench.flips = [Signal() for _ in boards[::2]], [Signal(64) for _ in boards]
        for n, board in enumerate(boards):
            plugged = bench.plugged[n // 2]
            self.submodules += _Words(boards[n ^ 1].line, board.line, delay, plugged, bench.flips[n])
            self.comb += board.line.line.eq(plugged)
        bench.inputs, bench.outputs = _ports(boards)
        bench.inputs |= {"plugged": bench.plugged, "flips": bench.flips}


class BulkChain(Module):
    """Boards 0, 1 and 2 in a chain, with four `boards`, one for each end of a link; the two in the
    middle are those of board 1. delay: cycles of each line. `plugged`: of both lines; `flips`: as
    in `BulkPair`."""

    def __init__(self, delay=20):
        ends = [BulkEnd(n) for n in range(4)]
        lines = {UP: ends[1].line, UP + 1: ends[2].line}
        self.submodules.forwarding = forwarding = BulkForwarding(lines, 1, [1])
        ways, numbers = [None, *forwarding.ways.values(), None], [0, 1, 1, 2]
        self.boards = [BulkBoard(*board) for board in zip(ends, ways, numbers, strict=True)]
        self.submodules += self.boards
        self.submodules.cables = _Cables(self, delay)
        self.outputs["relayed"] = [forwarding.settled]


class BulkCrossed(Module):
    """Boards of a tree, 0 with 1 and 2, and 2 with 3, and a link beside it between 0 and 3. `boards`: a `BulkBoard` for
    each end of a link, as `ENDS` names them. delay: cycles of each line. `plugged`: of each line, the last one that
    beside the tree; `flips`: as in `BulkPair`."""

    ENDS = ["0 to 1", "1", "0 to 2", "2 to 0", "2 to 3", "3 to 2", "0 to 3", "3 to 0"]
    """In pairs, of one line each."""
    _BEHIND = {0: [1, 2], 2: [1], 3: []}
    """Boards behind each of the links downwards, of the boards with several links."""

    def __init__(self, delay=20):
        ends = [BulkEnd(n) for n in range(len(self.ENDS))]
        numbers = [int(name[0]) for name in self.ENDS]
        leads = ends[-1].endpoint.up & ends[-2].endpoint.up
        ways, engines = [None] * len(ends), [None] * len(ends)
        relays = []
        for board, behind in self._BEHIND.items():
            mine = [n for n, number in enumerate(numbers) if number == board]
            crosses = []
            if board in (0, 3):
                # Of 0 the board across is 3, without boards behind it; of 3 it is 0, with all of them
                far = {0: (3, 1), 3: (0, 4)}[board]
                crosses = [SimpleNamespace(destination=C(far[0], 3), size=C(far[1], 4), leads=leads)]
            first = UP if board else UP + 1
            # In the order of ports: upwards, downwards, across
            mine.sort(key=lambda n: (n >= len(ends) - 2, n))
            lines = {first + n: ends[end].line for n, end in enumerate(mine)}
            self.submodules += (relay := BulkForwarding(lines, C(board, 8), behind, crosses))
            relays.append(relay)
            shared = None
            if crosses:
                self.submodules += (shared := BoardEngines(len(mine)))
            for end, way in zip(mine, relay.ways.values(), strict=True):
                ways[end], engines[end] = way, shared
        self.boards = [
            BulkBoard(end, way, number, engines=shared)
            for end, way, number, shared in zip(ends, ways, numbers, engines, strict=True)
        ]
        self.submodules += self.boards
        self.submodules.cables = _Cables(self, delay)
        self.outputs["relayed"] = [relay.settled for relay in relays]
