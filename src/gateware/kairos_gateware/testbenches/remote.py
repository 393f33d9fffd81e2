"""Bench for remote memory: a requesting board, a line that may be cut, and a board with a memory.

Requests are queued in a FIFO, so that a verilated bench can be run in lockstep.
"""

from migen import *
from migen.genlib.fifo import SyncFIFOBuffered

from ..link.line.endpoint import Endpoint
from ..link.remote.requester import RemoteInitiator
from ..link.remote.server import RemoteServer
from ..link.remote.window import ADDRESS_LENGTH, RemoteAskers, RemoteWindow
from ..link.remote.words import remote_streams
from .fibre import Joined

__all__ = ["MEMORY_WORDS", "PointerPair", "RemotePair", "ServedMemory", "export_all"]

MEMORY_WORDS = 256
_BOARD = 5
_REGIONS = 2
_QUEUE = 4096


class ServedMemory(Module):
    """A memory of `MEMORY_WORDS` behind a server's bus, from address 0; addresses beyond it return
    errors. A word is read or written when requested, and answered a cycle later, in order; while
    `stall`, nothing is accepted; while `hold`, nothing is answered. memory: that of another one, which is so served by
    several; None: of its own."""

    def __init__(self, server, memory=None):
        self.stall, self.hold = Signal(), Signal()

        # # #

        bus, reply = server.bus, server.reply
        if memory is None:
            memory = Memory(64, MEMORY_WORDS)
            self.specials += memory
        self.memory = memory
        write, read = memory.get_port(write_capable=True, we_granularity=8), memory.get_port(async_read=True)
        self.specials += write, read
        layout = [("id", len(bus.id)), ("error", 1), ("data", 64)]
        self.submodules.answers = answers = SyncFIFOBuffered(sum(width for _, width in layout), 16)
        taken, out_of_range = Signal(), bus.address >= MEMORY_WORDS
        self.comb += [
            bus.ready.eq(answers.writable & ~self.stall),
            taken.eq(bus.valid & bus.ready),
            write.adr.eq(bus.address),
            write.dat_w.eq(bus.data),
            If(taken & bus.write & ~out_of_range, write.we.eq(bus.strobes)),
            read.adr.eq(bus.address),
            answers.we.eq(taken),
            answers.din.eq(Cat(bus.id, out_of_range, read.dat_r)),
            reply.valid.eq(answers.readable & ~self.hold),
            answers.re.eq(reply.ready & ~self.hold),
            Cat(reply.id, reply.error, reply.data).eq(answers.dout),
        ]


def export_all(server, number):
    """Statements: the server of a board exports all of its memory, writable."""
    region = server.regions[0]
    return [
        server.board.eq(number),
        region.enable.eq(1),
        region.writable.eq(1),
        region.last.eq(MEMORY_WORDS - 1),
    ]


class _Pair(Module):
    """delay: cycles of the line. reliability: of the endpoints. timeout, attempts: of the initiator.

    In: `plugged`; `stall`, `hold` of the memory. `writable`: of both regions: the first is half of the
    memory, the second one word beyond it. Out: `answer`, `failed`, `refused`, `repeated`, `stale`, `full` (of
    the table). `initiator`: without requests.
    """

    def __init__(self, delay, reliability, timeout, attempts):
        asks, answers = remote_streams()
        near, far = Endpoint([asks], [answers], reliability), Endpoint([answers], [asks], reliability)
        self.submodules.near, self.submodules.far = near, far
        self.submodules.initiator = initiator = RemoteInitiator(
            near.sink["remote_requests"], near.source["remote_answers"], near.up, timeout, attempts
        )
        self.submodules.server = server = RemoteServer(
            far.source["remote_requests"], far.sink["remote_answers"], _REGIONS
        )
        self.submodules.memory = memory = ServedMemory(server)
        self.writable, self.plugged, self.stall, self.hold = Signal(), Signal(), memory.stall, memory.hold
        self.answer, self.failed = initiator.answer, initiator.failed
        self.refused, self.repeated = server.refused, initiator.repeated
        self.stale, self.full, self.joined = initiator.stale, server.table.full, near.up

        # # #

        first, second = server.regions
        self.comb += [
            initiator.board.eq(_BOARD),
            first.enable.eq(1),
            first.last.eq(MEMORY_WORDS // 2 - 1),
            second.enable.eq(1),
            second.first.eq(MEMORY_WORDS),
            second.last.eq(MEMORY_WORDS),
            first.writable.eq(self.writable),
            second.writable.eq(self.writable),
        ]
        self.submodules += Joined((near, far), delay, self.plugged)


class RemotePair(_Pair):
    """With a queue of requests. In: `offer`, a request (`write`, `address`, `data`, `strobes`, `tag`) joins it;
    `early`; `blocking`, one request at a time leaves it. Out: `accepted`, `idle`."""

    def __init__(self, delay=1, reliability=None, timeout=512, attempts=4):
        super().__init__(delay, reliability, timeout, attempts)
        initiator = self.initiator
        request = initiator.request
        names = ["write", "address", "data", "strobes", "tag"]
        for name in names:
            setattr(self, name, Signal.like(getattr(request, name)))
        self.offer, self.early, self.blocking = Signal(), initiator.early, Signal()
        self.accepted, self.idle = Signal(), Signal()

        # # #

        fields = [getattr(self, name) for name in names]
        self.submodules.queue = queue = SyncFIFOBuffered(sum(map(len, fields)), _QUEUE)
        waiting = Signal()
        self.comb += [
            queue.din.eq(Cat(*fields)),
            queue.we.eq(self.offer),
            Cat(*[getattr(request, name) for name in names]).eq(queue.dout),
            request.valid.eq(queue.readable & ~waiting),
            queue.re.eq(request.ready & ~waiting),
            self.accepted.eq(request.valid & request.ready),
            self.idle.eq(initiator.idle & ~queue.readable),
        ]
        self.sync += If(self.accepted & self.blocking, waiting.eq(1)).Elif(self.answer.valid, waiting.eq(0))


class PointerPair(_Pair):
    """With a window, and a processor that stores words there, each when the previous one was answered.
    In: `offer`, a store of 32 bits (`address`, `data`) joins the processor's queue; `posted`. Out: `taken`, the
    window has taken its address; `failed`, the window has answered with an error; `idle`."""

    def __init__(self, delay=1, reliability=None, timeout=512, attempts=4):
        super().__init__(delay, reliability, timeout, attempts)
        self.submodules.askers = askers = RemoteAskers(self.initiator, 2)
        self.submodules.window = window = RemoteWindow([askers.askers[1]], lambda board, end: end.eq(0))
        self.offer, self.address, self.data = Signal(), Signal(ADDRESS_LENGTH), Signal(32)
        self.posted, self.taken, self.idle = window.posted, Signal(), Signal()
        self.failed = window.failed

        # # #

        self.submodules.queue = queue = SyncFIFOBuffered(ADDRESS_LENGTH + 32, _QUEUE)
        axi, given, word = window.axi, Signal(), Signal()  # the address, and the word, have been taken
        self.comb += [
            queue.we.eq(self.offer),
            queue.din.eq(Cat(self.address, self.data)),
            Cat(axi.aw.addr[:ADDRESS_LENGTH], axi.w.data).eq(queue.dout),
            axi.w.strb.eq(0xF),
            axi.w.last.eq(1),
            axi.b.ready.eq(1),
            axi.aw.valid.eq(queue.readable & ~given),
            axi.w.valid.eq(queue.readable & ~word),
            queue.re.eq(axi.b.valid),
            self.taken.eq(axi.aw.valid & axi.aw.ready),
            self.idle.eq(self.initiator.idle & ~queue.readable),
        ]
        self.sync += [
            If(self.taken, given.eq(1)),
            If(axi.w.valid & axi.w.ready, word.eq(1)),
            If(axi.b.valid, given.eq(0), word.eq(0)),
        ]
