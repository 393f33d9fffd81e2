"""Bench for `Forwarding` with cross links: boards of a tree with links beside it, all of which access all others'
memories.

Requests are queued in FIFOs, so that a verilated bench can be run in lockstep.
"""

from functools import reduce
from operator import add, and_, or_

from migen import *
from migen.genlib.fifo import SyncFIFOBuffered

from ..link.line.endpoint import Endpoint
from ..link.line.reliable import Reliability
from ..link.remote.cross import CrossLink
from ..link.remote.forward import Forwarding
from ..link.remote.requester import RemoteInitiator
from ..link.remote.server import RemoteServer
from ..link.remote.words import remote_both
from ..link.switch.routes import UP, crossed_route
from .fibre import Joined
from .remote import ServedMemory, export_all

__all__ = ["CrossedBoards"]

_QUEUE = 1024
_ASKED = ["write", "address", "data", "strobes"]
_NAMES = [*_ASKED, "tag", "destination"]
_TIMEOUT = 700


class _Crossed(Module):
    """A board with an initiator and a server at each of its links, which serve one memory. number: of the board; sizes:
    boards behind each of its links downwards; endpoints: of its links of the tree, by their ports; crosses:
    `CrossLink` of each.

    In: `offer`, a request (`write`, `address`, `data`, `strobes`, `tag`, `destination`) joins the queue. It leaves by
    the link that leads to its destination, once those that have left by others are answered. Out: `answer`; `idle`;
    `repeated` of all initiators; `settled`.
    """

    def __init__(self, number, sizes, endpoints, crosses):
        first = UP + 1 + len(sizes)
        crossing = [(cross.destination, cross.size, cross.leads) for cross in crosses]
        ends = endpoints | {first + n: cross.endpoint for n, cross in enumerate(crosses)}
        self.submodules.forwarding = forwarding = Forwarding(ends, number, sizes, crosses)
        self.initiators = initiators = {
            port: RemoteInitiator(
                way.sink["remote_requests"],
                way.source["remote_answers"],
                way.up,
                timeout=_TIMEOUT,
                via=way.via,
            )
            for port, way in forwarding.ways.items()
        }
        self.submodules += list(initiators.values())
        self._serve(number, forwarding.ways.values())
        some = next(iter(initiators.values()))
        for name in _NAMES:
            setattr(self, name, Signal.like(getattr(some.request, name)))
        self.offer, self.idle, self.answer = Signal(), Signal(), Record(some.answer.layout)
        self.repeated, self.settled = Signal(16), forwarding.settled

        # # #

        given, port, asked = [getattr(self, name) for name in _NAMES], Signal(max=first + len(crosses)), Signal(3)
        self.submodules.queue = queue = SyncFIFOBuffered(sum(map(len, given)), _QUEUE)
        self.comb += [
            queue.din.eq(Cat(*given)),
            queue.we.eq(self.offer),
            asked.eq(queue.dout[-3:]),
            crossed_route(number, sizes, crossing)(asked, port),
            self.repeated.eq(reduce(add, [one.repeated for one in initiators.values()])),
            self.idle.eq(reduce(and_, [one.idle for one in initiators.values()]) & ~queue.readable),
            queue.re.eq(reduce(or_, [one.request.valid & one.request.ready for one in initiators.values()])),
        ]
        for at, one in initiators.items():
            request, others = one.request, [other.idle for other in initiators.values() if other is not one]
            self.comb += [
                one.board.eq(number),
                Cat(*[getattr(request, name) for name in _NAMES]).eq(queue.dout),
                request.far.eq(1),
                request.valid.eq(queue.readable & (port == at) & reduce(and_, others, C(1))),
                If(one.answer.valid, self.answer.eq(one.answer)),
            ]

    def _serve(self, number, ways):
        memory = None
        for way in ways:
            server = RemoteServer(way.source["remote_requests"], way.sink["remote_answers"], 1)
            served = ServedMemory(server, memory)
            memory = served.memory
            self.submodules += server, served
            self.comb += export_all(server, number)


class CrossedBoards(Module):
    """behind: of each board of the tree, numbered in preorder, how many boards there are behind each of its links
    downwards. crosses: pairs of boards with a link beside the tree. delay: cycles of each line.

    `boards`; `cables`: the boards that each joins, those of the tree first; `plugged`: a bit of each; `joined`: all are
    up; `settled`: nothing is in flight at any board.
    """

    def __init__(self, behind, crosses, delay=3):
        downstream, upstream = remote_both()
        numbers = [Signal(8, reset=n) for n in range(len(behind))]
        self.cables, ends, across = [], [{} for _ in behind], [[] for _ in behind]
        pairs = []
        for n, sizes in enumerate(behind):
            children = [n + 1 + sum(sizes[:k]) for k in range(len(sizes))]
            for port, child in enumerate(children, UP + 1):
                ends[n][port] = Endpoint(downstream, upstream, Reliability())
                ends[child][UP] = Endpoint(upstream, downstream, Reliability())
                self.cables.append((n, child))
                pairs.append((ends[n][port], ends[child][UP]))
        for pair in crosses:
            links = [CrossLink(numbers[n], C(1), sum(behind[n])) for n in pair]
            for n, link in zip(pair, links, strict=True):
                across[n].append(link)
            self.cables.append(pair)
            pairs.append(tuple(links))
        self.boards = [_Crossed(*some) for some in zip(numbers, behind, ends, across, strict=True)]
        self.plugged, self.joined, self.settled = Signal(len(pairs)), Signal(), Signal()

        # # #

        self.submodules += [end for some in ends for end in some.values()], [link for some in across for link in some]
        self.submodules += self.boards
        up = []
        for n, pair in enumerate(pairs):
            points = [getattr(end, "endpoint", end) for end in pair]
            self.submodules += Joined(points, delay, self.plugged[n])
            self.comb += [end.line_up.eq(self.plugged[n]) for end in pair if isinstance(end, CrossLink)]
            up += [point.up for point in points]
        up += [link.leads for some in across for link in some]
        self.comb += [
            self.joined.eq(reduce(and_, up)),
            self.settled.eq(reduce(and_, [board.settled & board.idle for board in self.boards])),
        ]
