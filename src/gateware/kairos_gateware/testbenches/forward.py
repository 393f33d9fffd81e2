"""Bench for `Forwarding`: three boards in a chain, each with a memory; those at the ends access all
others.

Requests are queued in FIFOs, so that a verilated bench can be run in lockstep.
"""

from migen import *
from migen.genlib.fifo import SyncFIFOBuffered

from ..link.line.endpoint import Endpoint
from ..link.line.reliable import Reliability
from ..link.remote.forward import Forwarding
from ..link.remote.requester import RemoteInitiator
from ..link.remote.server import RemoteServer
from ..link.remote.words import remote_both
from ..link.switch.routes import UP
from .fibre import Fibre
from .remote import ServedMemory, export_all

__all__ = ["Board", "ForwardChain"]

_QUEUE = 4096
_NAMES = ["write", "address", "data", "strobes", "tag", "far", "destination"]


class Board(Module):
    """number: of the board; it issues the requests in `queue` and serves its memory. way: towards
    the link, with `sink`, `source` and `up`."""

    def __init__(self, number, way):
        self.submodules.initiator = initiator = RemoteInitiator(
            way.sink["remote_requests"], way.source["remote_answers"], way.up, timeout=700
        )
        self.offer = Signal()
        request = initiator.request
        for name in _NAMES:
            setattr(self, name, Signal.like(getattr(request, name)))
        self.idle, self.answer, self.repeated = Signal(), initiator.answer, initiator.repeated

        # # #

        given = [getattr(self, name) for name in _NAMES]
        self.submodules.queue = queue = SyncFIFOBuffered(sum(map(len, given)), _QUEUE)
        self.comb += [
            initiator.board.eq(number),
            queue.din.eq(Cat(*given)),
            queue.we.eq(self.offer),
            Cat(*[getattr(request, name) for name in _NAMES]).eq(queue.dout),
            request.valid.eq(queue.readable),
            queue.re.eq(request.ready),
            self.idle.eq(initiator.idle & ~queue.readable),
        ]
        self.serve(way, number)

    def serve(self, way, number):
        """Adds a server and its memory, all of which is exported and writable."""
        server = RemoteServer(way.source["remote_requests"], way.sink["remote_answers"], 1)
        self.submodules += server, ServedMemory(server)
        self.comb += export_all(server, number)


class ForwardChain(Module):
    """Boards 0, 1 and 2. delay: cycles of each line. `first`, `last`: boards 0 and 2. `plugged`: of
    both lines."""

    def __init__(self, delay=3):
        ends = []
        for _ in range(2):
            downstream, upstream = remote_both()
            ends += [Endpoint(downstream, upstream, Reliability()), Endpoint(upstream, downstream, Reliability())]
        self.submodules += ends
        first_end, up, down, last_end = ends
        self.submodules.forwarding = forwarding = Forwarding({UP: up, UP + 1: down}, 1, [1])
        self.submodules.first = first = Board(0, first_end)
        self.submodules.last = Board(2, last_end)
        first.serve(forwarding.ways[UP], 1)
        # The middle board has a server with a memory of its own for each link: stores from the two
        # sides stay separate
        first.serve(forwarding.ways[UP + 1], 1)
        self.plugged = [Signal(), Signal()]
        self.joined = Signal()

        # # #

        for plugged, *pair in [(self.plugged[0], first_end, up), (self.plugged[1], down, last_end)]:
            for source, sink in [pair, reversed(pair)]:
                self.submodules += (fibre := Fibre(delay))
                self.comb += [
                    fibre.delay.eq(delay),
                    fibre.plugged.eq(plugged),
                    fibre.between(source.out, sink.into),
                    sink.line.eq(plugged),
                ]
        self.comb += self.joined.eq(first_end.up & last_end.up)
        # The middle board issues no requests
        for way in forwarding.ways.values():
            self.comb += way.source["remote_answers"].ready.eq(1)
