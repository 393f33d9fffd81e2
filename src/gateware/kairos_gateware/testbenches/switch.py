"""Networks of switches; each node has a board that sends packets endlessly and checks received
ones. Lanes of one cable share it.

A packet: destination (8 bits), source (8), number of the packet from that source to that
destination (16), the position of its last flit (16); then flits derived from these.
"""

from dataclasses import dataclass, field
from functools import reduce
from operator import add

from migen import *

from ..link.switch.routes import (
    LOCAL,
    MESH_LANES,
    MESH_PORTS,
    RING_LANES,
    RING_PORTS,
    UP,
    RingReach,
    free_mesh_route,
    free_mesh_turn,
    mesh_route,
    ring_route,
    short_ring_route,
    short_ring_turn,
    torus_route,
    tree_route,
)
from ..link.switch.switch import DESTINATION_BITS, Switch, flit_layout
from .link import Chance

__all__ = ["FIXED", "LONGEST", "NODES", "NO_CUT", "OPPOSITE", "RANDOM", "SwitchNetwork", "naive_mesh_route"]

LONGEST = 8
"""Flits of a packet."""
NODES = {
    "chain": 6,
    "tree": 8,
    "mesh": 9,
    "torus": 9,
    "free mesh": 9,
    "ring": 4,
    "short ring": 4,
    "circulating ring": 4,
    "naive mesh": 9,
}
"""The last two can deadlock, so no real system uses them; they show that the tests would detect a deadlock."""
NO_CUT = 15
RANDOM, FIXED, OPPOSITE = range(3)
"""Destinations of packets: any node; all the same node; the node at the other end of the
numbering."""
_X_BITS = 4
_TREES = {"chain": [1, 2, 3, 4, 5, None], "tree": [(1, 4, 7), (2, 3), None, None, (5, 6), None, None, None]}
"""Children of each node."""


class _Board(Module):
    """`number`: the node's index in `addresses`. ordered: packets of a source overtake none, and none is lost. `out`,
    `into`: its flits. `balance`: sum of what was sent less that of what was received."""

    def __init__(self, number, addresses, ordered):
        self.out, self.into = Record(flit_layout()), Record(flit_layout())
        self.offering, self.pattern, self.target = Signal(), Signal(2), Signal(4)
        self.taken, self.sent, self.received, self.wrong = Signal(9), Signal(32), Signal(32), Signal(32)
        self.balance = Signal(32)

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
                & (within | ((header[:8] == addresses[number]) & ((header[16:32] == expected[source]) | (not ordered))))
            ),
        ]
        goes, comes, started = [Signal(32) for _ in range(3)]
        self.comb += [
            started.eq(Cat(address[to], C(number, 8), numbers[to])),
            If(begins, goes.eq(started)),
            If(come.valid & come.ready & come.last, comes.eq(header[:32])),
        ]
        self.sync += self.balance.eq(self.balance + goes - comes)
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


@dataclass
class _Plan:
    """addresses, routes, ports: of each node. cables: each a list of lanes, which join (node, port) to (node, port)
    both ways. reach: of each node, if it knows of lost cables; cables then lead from each node onward."""

    addresses: list
    routes: list
    ports: list
    cables: list
    choice: bool = False
    turn: object = lambda into, out: True
    reach: list = field(default_factory=list)


def _tree(children):
    sizes, cables = [1] * len(children), []
    behind = [kids if isinstance(kids, tuple) else () if kids is None else (kids,) for kids in children]
    for node in reversed(range(len(children))):
        sizes[node] += sum(sizes[kid] for kid in behind[node])
        cables += [[((node, UP + 1 + place), (kid, UP))] for place, kid in enumerate(behind[node])]
    routes = [tree_route(node, [sizes[kid] for kid in kids]) for node, kids in enumerate(behind)]
    return _Plan(list(range(len(children))), routes, [2 + len(kids) for kids in behind], cables)


def _grid(side, route, ports=MESH_PORTS, lanes=1, closed=False, **more):
    """route: function of x and y. lanes: of the cables along y."""
    places, cables = [(x, y) for y in range(side) for x in range(side)], []
    for number, (x, y) in enumerate(places):
        east, north = y * side + (x + 1) % side, (y + 1) % side * side + x
        if closed or x + 1 < side:
            cables.append([((number, 1), (east, 2))])
        if closed or y + 1 < side:
            cables.append([((number, 3 + 2 * lane), (north, 4 + 2 * lane)) for lane in range(lanes)])
    routes = [route(x, y) for x, y in places]
    return _Plan([x | y << _X_BITS for x, y in places], routes, [len(ports)] * len(places), cables, **more)


def naive_mesh_route(x, y, x_bits):
    """A free choice, but no second lanes: packets can wait for one another in a circle."""
    free = free_mesh_route(x, y, x_bits)

    def route(destination, port, other):
        first, second = [Signal(max=len(MESH_LANES)) for _ in range(2)]
        return [
            free(destination, first, second),
            port.eq(Mux(first > 4, first - 2, first)),
            other.eq(Mux(second > 4, second - 2, second)),
        ]

    return route


def _ring(count):
    nodes = range(count)
    cables = [[((n, 1), ((n + 1) % count, 2))] for n in nodes]
    return _Plan(list(nodes), [ring_route(n, count) for n in nodes], [len(RING_PORTS)] * count, cables)


def _circulating_ring(count):
    def route(own):
        return lambda destination, port: port.eq(Mux(destination == own, LOCAL, 1))

    plan = _ring(count)
    plan.routes = [route(n) for n in range(count)]
    return plan


def _short_ring(count):
    nodes = range(count)
    reach = [RingReach(count) for _ in nodes]
    routes = [short_ring_route(n, count, knows.reach) for n, knows in enumerate(reach)]
    cables = [[((n, 1 + lane), ((n + 1) % count, 3 + lane)) for lane in range(2)] for n in nodes]
    ports = [len(RING_LANES)] * count
    return _Plan(list(nodes), routes, ports, cables, choice=True, turn=short_ring_turn, reach=reach)


_PLANS = {
    "chain": lambda: _tree(_TREES["chain"]),
    "tree": lambda: _tree(_TREES["tree"]),
    "mesh": lambda: _grid(3, lambda x, y: mesh_route(x, y, _X_BITS)),
    "torus": lambda: _grid(3, lambda x, y: torus_route(x, y, _X_BITS, (3, 3)), closed=True),
    "free mesh": lambda: _grid(
        3, lambda x, y: free_mesh_route(x, y, _X_BITS), MESH_LANES, lanes=2, choice=True, turn=free_mesh_turn
    ),
    "naive mesh": lambda: _grid(3, lambda x, y: naive_mesh_route(x, y, _X_BITS), choice=True),
    "ring": lambda: _ring(NODES["ring"]),
    "circulating ring": lambda: _circulating_ring(NODES["circulating ring"]),
    "short ring": lambda: _short_ring(NODES["short ring"]),
}


class _Cable(Module):
    """One direction of a cable: a flit of one lane in each cycle, lanes in turn by flits. sources, sinks: of its lanes.
    up: of the cable; packets that begin while it is down are dropped, `dropped` (out): a bit of each lane."""

    def __init__(self, sources, sinks, up):
        self.dropped = Signal(len(sources))

        # # #

        wants, drops = [Signal(len(sources)) for _ in range(2)]
        chosen = Signal(max=max(2, len(sources)))
        turn = Signal.like(chosen)
        for before in range(len(sources)):
            order = [(before + 1 + n) % len(sources) for n in range(len(sources))]
            self.comb += If(turn == before, [If(wants[n], chosen.eq(n)) for n in reversed(order)])
        self.sync += If(wants != 0, turn.eq(chosen))
        for n, (source, sink) in enumerate(zip(sources, sinks, strict=True)):
            inside, kept = Signal(), Signal()
            self.comb += [
                drops[n].eq(Mux(inside, kept, ~up)),
                wants[n].eq(source.valid & sink.ready & ~drops[n]),
                sink.valid.eq(source.valid & ~drops[n] & (chosen == n)),
                sink.last.eq(source.last),
                sink.data.eq(source.data),
                source.ready.eq(drops[n] | (sink.ready & (chosen == n))),
                self.dropped[n].eq(source.valid & source.last & drops[n]),
            ]
            self.sync += If(source.valid & source.ready, inside.eq(~source.last), kept.eq(drops[n]))


class SwitchNetwork(Module):
    """kind: of `NODES`. `offering`, `pattern`, `target`: of all boards. `taken`: number of cycles
    out of 256 in which a board accepts a flit. `cut`: cable below `NO_CUT` that is down, or that. `sent`, `received`,
    `wrong`, `balance`: packets, packets, flits, sums of each board. `dropped`: packets of the network."""

    def __init__(self, kind):
        plan = _PLANS[kind]()
        boards = [_Board(n, plan.addresses, not plan.choice) for n in range(len(plan.addresses))]
        switches = [
            Switch(count, route, LONGEST, choice=plan.choice, turn=plan.turn)
            for count, route in zip(plan.ports, plan.routes, strict=True)
        ]
        self.submodules += boards, switches, plan.reach
        self.offering, self.pattern, self.target, self.taken = Signal(), Signal(2), Signal(4), Signal(9)
        self.cut, self.dropped = Signal(4, reset=NO_CUT), Signal(32)
        self.sent, self.received, self.wrong, self.balance = [
            [getattr(board, name) for board in boards] for name in ("sent", "received", "wrong", "balance")
        ]

        # # #

        for board, switch in zip(boards, switches, strict=True):
            self.comb += [
                [getattr(board, name).eq(getattr(self, name)) for name in ("offering", "pattern", "target", "taken")],
                self._join(board.out, switch.into[LOCAL]),
                self._join(switch.out[LOCAL], board.into),
            ]
        drops = [bit for switch in switches for bit in switch.dropped]
        for number, lanes in enumerate(plan.cables):
            up = Signal()
            self.comb += up.eq(self.cut != number if number < NO_CUT else 1)
            for swapped in (False, True):
                ends = [lane[::-1] if swapped else lane for lane in lanes]
                cable = _Cable(
                    [switches[node].out[port] for (node, port), _ in ends],
                    [switches[node].into[port] for _, (node, port) in ends],
                    up,
                )
                self.submodules += cable
                drops += list(cable.dropped)
            if plan.reach:
                self._know(plan.reach[number], plan.reach[(number + 1) % len(plan.reach)], up)
        self.sync += self.dropped.eq(self.dropped + reduce(add, drops))

    def _know(self, node, following, up):
        """Both ends of a cable of a ring know whether it is up, and what the other end reaches."""
        self.comb += [
            node.up[0].eq(up),
            following.up[1].eq(up),
            node.far[0].eq(following.reach[0]),
            following.far[1].eq(node.reach[1]),
        ]

    @staticmethod
    def _join(source, sink):
        names = ("valid", "last", "data")
        return [source.ready.eq(sink.ready), *[getattr(sink, name).eq(getattr(source, name)) for name in names]]
