"""Networks of switches; each node has a board that sends packets endlessly and checks received
ones.

A packet: destination (8 bits), source (8), number of the packet from that source to that
destination (16), the position of its last flit (16); then flits derived from these.
"""

from migen import *

from ..link.switch.routes import LOCAL, MESH_PORTS, UP, mesh_route, tree_route
from ..link.switch.switch import DESTINATION_BITS, Switch, flit_layout
from .link import Chance

__all__ = ["FIXED", "LONGEST", "NODES", "OPPOSITE", "RANDOM", "SwitchNetwork"]

LONGEST = 8
"""Flits of a packet."""
NODES = {"chain": 6, "tree": 8, "mesh": 9, "ring": 4}
RANDOM, FIXED, OPPOSITE = range(3)
"""Destinations of packets: any node; all the same node; the node at the other end of the
numbering."""
_X_BITS = 4
_TREES = {"chain": [1, 2, 3, 4, 5, None], "tree": [(1, 4, 7), (2, 3), None, None, (5, 6), None, None, None]}
"""Children of each node."""


class _Board(Module):
    """`number`: the node's index in `addresses`. `out`, `into`: its flits."""

    def __init__(self, number, addresses):
        self.out, self.into = Record(flit_layout()), Record(flit_layout())
        self.offering, self.pattern, self.target = Signal(), Signal(2), Signal(4)
        self.taken, self.sent, self.received, self.wrong = Signal(9), Signal(32), Signal(32), Signal(32)

        # # #

        count = len(addresses)
        self.submodules.chance = chance = Chance(256, 7 * number + 1)
        self.submodules.pauses = pauses = Chance(self.taken, 7 * number + 2)
        random = chance.state
        to, numbers = Signal(max=count), Array(Signal(16) for _ in range(count))
        header, inside, place = Signal(48), Signal(), Signal(16)
        flit, anywhere = self.out, Signal(max=2 * count)
        self.comb += [
            anywhere.eq(random[:4]),
            Case(
                self.pattern,
                {
                    RANDOM: to.eq(Mux(anywhere < count, anywhere, random[4:6])),
                    FIXED: to.eq(self.target),
                    "default": to.eq(count - 1 - number),
                },
            ),
            flit.valid.eq(inside),
            flit.last.eq(place == header[32:]),
            flit.data.eq(self._flit(header, place)),
        ]
        address = Array(C(a, DESTINATION_BITS) for a in addresses)
        begins = self.offering & (~inside | (flit.ready & flit.last))
        self.sync += [
            If(inside & flit.ready, place.eq(place + 1), If(flit.last, inside.eq(0), self.sent.eq(self.sent + 1))),
            If(
                begins,
                inside.eq(1),
                place.eq(0),
                header.eq(Cat(address[to], C(number, 8), numbers[to], random[8 : 8 + log2_int(LONGEST)], C(0, 13))),
            ),
            [If(begins & (to == n), numbers[n].eq(numbers[n] + 1)) for n in range(count)],
        ]
        # Received packets
        come, header, known, at, within = self.into, Signal(48), Signal(48), Signal(16), Signal()
        expected, source = Array(Signal(16) for _ in range(count)), Signal(max=count)
        right = Signal()
        self.comb += [
            come.ready.eq(pauses.yes),
            header.eq(Mux(within, known, come.data[:48])),
            source.eq(header[8:16]),
            right.eq(
                (come.data == self._flit(header, Mux(within, at, 0)))
                & (come.last == (Mux(within, at, 0) == header[32:]))
                & (within | ((header[:8] == addresses[number]) & (header[16:32] == expected[source])))
            ),
        ]
        self.sync += If(
            come.valid & come.ready,
            known.eq(header),
            within.eq(~come.last),
            at.eq(Mux(within, at, 0) + 1),
            If(~right, self.wrong.eq(self.wrong + 1)),
            If(come.last, self.received.eq(self.received + 1)),
            [If(~within & (source == n), expected[n].eq(expected[n] + 1)) for n in range(count)],
        )

    @staticmethod
    def _flit(header, place):
        return Cat(header, Mux(place == 0, 0, header[:16] ^ header[16:32] ^ place))


def _tree(children):
    """(addresses, routes, ports of each node, cables) of a tree."""
    sizes, cables = [1] * len(children), []
    behind = [kids if isinstance(kids, tuple) else () if kids is None else (kids,) for kids in children]
    for node in reversed(range(len(children))):
        sizes[node] += sum(sizes[kid] for kid in behind[node])
        cables += [((node, UP + 1 + place), (kid, UP)) for place, kid in enumerate(behind[node])]
    routes = [tree_route(node, [sizes[kid] for kid in kids]) for node, kids in enumerate(behind)]
    return list(range(len(children))), routes, [2 + len(kids) for kids in behind], cables


def _mesh(side):
    places = [(x, y) for y in range(side) for x in range(side)]
    cables = []
    for number, (x, y) in enumerate(places):
        cables += [((number, 1), (number + 1, 2))] if x + 1 < side else []
        cables += [((number, 3), (number + side, 4))] if y + 1 < side else []
    routes = [mesh_route(x, y, _X_BITS) for x, y in places]
    return [x | y << _X_BITS for x, y in places], routes, [len(MESH_PORTS)] * len(places), cables


def _ring(count):
    """Packets travel in one direction: port 2 leads to port 1 of the next node. It can deadlock, so
    no real system uses it; it shows that the tests would detect a deadlock."""

    def route(own):
        return lambda destination, port: port.eq(Mux(destination == own, LOCAL, 2))

    return list(range(count)), [route(n) for n in range(count)], [3] * count, None


class SwitchNetwork(Module):
    """kind: of `NODES`. `offering`, `pattern`, `target`: of all boards. `taken`: number of cycles
    out of 256 in which a board accepts a flit. `sent`, `received`, `wrong`: packets, packets, flits
    of each board."""

    def __init__(self, kind):
        made = {"chain": _tree, "tree": _tree, "mesh": _mesh, "ring": _ring}[kind]
        addresses, routes, ports, cables = made({"mesh": 3, "ring": 4}.get(kind) or _TREES[kind])
        boards = [_Board(number, addresses) for number in range(len(addresses))]
        switches = [Switch(count, route, LONGEST) for count, route in zip(ports, routes, strict=True)]
        self.submodules += boards, switches
        self.offering, self.pattern, self.target, self.taken = Signal(), Signal(2), Signal(4), Signal(9)
        self.sent, self.received, self.wrong = [
            [getattr(board, name) for board in boards] for name in ("sent", "received", "wrong")
        ]

        # # #

        for board, switch in zip(boards, switches, strict=True):
            self.comb += [
                [getattr(board, name).eq(getattr(self, name)) for name in ("offering", "pattern", "target", "taken")],
                self._join(board.out, switch.into[LOCAL]),
                self._join(switch.out[LOCAL], board.into),
            ]
        if cables is None:
            count = len(switches)
            for n in range(count):
                self.comb += self._join(switches[n].out[2], switches[(n + 1) % count].into[1])
            return
        for (a, a_port), (b, b_port) in cables:
            self.comb += self._join(switches[a].out[a_port], switches[b].into[b_port])
            self.comb += self._join(switches[b].out[b_port], switches[a].into[a_port])

    @staticmethod
    def _join(source, sink):
        names = ("valid", "last", "data")
        return [source.ready.eq(sink.ready), *[getattr(sink, name).eq(getattr(source, name)) for name in names]]
