"""Arithmetic routing: which port of a switch leads to a destination, by comparing it with the node's own numbers.

Each function returns one from the destination and a signal for the port to statements; where there is a choice, there
are two ports. `short_ring_route` returns one for each port at which a packet comes. None lets packets wait for one
another in a circle: docs/gateware/switch.md.
"""

from migen import *

__all__ = [
    "LOCAL",
    "MESH_LANES",
    "MESH_PORTS",
    "RING_LANES",
    "RING_PORTS",
    "UP",
    "RingReach",
    "adaptive_route",
    "crossed_route",
    "free_mesh_route",
    "free_mesh_turn",
    "mesh_route",
    "ring_route",
    "short_ring_route",
    "short_ring_turn",
    "torus_route",
    "tree_route",
]

LOCAL, UP = 0, 1
"""Ports: the board itself; in a tree, the one towards the root. Ports after it lead to the
children."""
MESH_PORTS = ["local", "east", "west", "north", "south"]
"""Of meshes and tori; east and north are towards greater numbers."""
RING_PORTS = ["local", "onward", "back"]
"""Onward is towards greater numbers."""
RING_LANES = ["local", "onward 0", "onward 1", "back 0", "back 1"]
"""Each cable of a ring has two lanes: 0 for packets that have still to pass the cable between the last node and node 0,
1 for all others."""
MESH_LANES = ["local", "east", "west", "north 0", "south 0", "north 1", "south 1"]
"""Cables along y have two lanes: 0 for packets that have still to go west, 1 for all others."""


def tree_route(own, sizes):
    """Routing in a tree whose nodes are numbered in preorder, each before its descendants. own:
    number of the node, an integer or a signal; sizes: number of nodes behind each of its ports from
    2 on. Returns a function from the destination and a signal for the port to statements."""

    def route(destination, port):
        statements = If(destination == own, port.eq(LOCAL))
        first = own + 1
        for child, size in enumerate(sizes):
            here = (destination >= first) & (destination < first + size)
            statements, first = statements.Elif(here, port.eq(UP + 1 + child)), first + size
        return statements.Else(port.eq(UP))

    return route


def crossed_route(own, sizes, crosses):
    """The same for a node of a tree with links beside it, at the ports after those of the tree. crosses: of each, the
    number of the node at the other end, how many nodes there are from it downwards, itself included, and whether the
    link leads there; integers or signals. A packet goes up, then across once, then down, where it may take a link to a
    node further below; up to a node above it goes across only if that is its destination."""
    end = own + 1 + sum(sizes)

    def route(destination, port):
        statements = If(destination == own, port.eq(LOCAL))
        below = (destination > own) & (destination < end)
        for n, (first, size, leads) in enumerate(crosses):
            there = (destination >= first) & (destination < first + size)
            further, above = (first > own) & (first < end), (first < own) & (own < first + size)
            ways = (~below | further) & (~above | (destination == first))
            statements = statements.Elif(leads & there & ways, port.eq(UP + 1 + len(sizes) + n))
        return statements.Else(tree_route(own, sizes)(destination, port))

    return route


def mesh_route(x, y, x_bits):
    """The same for a mesh and its node at x, y. A destination has x in its lowest `x_bits` bits and
    y above them. Routes along x first, then along y. Ports as in `MESH_PORTS`."""

    def route(destination, port):
        to_x, to_y = destination[:x_bits], destination[x_bits:]
        ways = [to_x > x, to_x < x, to_y > y]
        statements = If(ways[0], port.eq(1)).Elif(ways[1], port.eq(2)).Elif(ways[2], port.eq(3))
        return statements.Elif(to_y < y, port.eq(4)).Else(port.eq(LOCAL))

    return route


def adaptive_route(x, y, x_bits):
    """The same, with a choice: a packet for the west goes there first; any other may go either along x or along y, as
    long as both bring it nearer, and prefers x. `other` is another way, or the same port."""

    def route(destination, port, other):
        to_x, to_y = destination[:x_bits], destination[x_bits:]
        along_y = Signal(max=len(MESH_PORTS))
        return [
            If(to_y > y, along_y.eq(3)).Elif(to_y < y, along_y.eq(4)).Else(along_y.eq(LOCAL)),
            If(to_x < x, port.eq(2), other.eq(2))
            .Elif(to_x > x, port.eq(1), other.eq(Mux(to_y == y, 1, along_y)))
            .Else(port.eq(along_y), other.eq(along_y)),
        ]

    return route


def free_mesh_route(x, y, x_bits):
    """The same with a free choice: any packet may go along x or along y, whichever it still has to. Ports as in
    `MESH_LANES`."""

    def route(destination, port, other):
        to_x, to_y = destination[:x_bits], destination[x_bits:]
        along_y, lane = Signal(max=len(MESH_LANES)), Signal()
        return [
            lane.eq(to_x >= x),
            If(to_y > y, along_y.eq(Mux(lane, 5, 3))).Elif(to_y < y, along_y.eq(Mux(lane, 6, 4))),
            If(to_x == x, port.eq(along_y)).Else(port.eq(Mux(to_x > x, 1, 2))),
            other.eq(Mux((to_x == x) | (to_y == y), port, along_y)),
        ]

    return route


_MESH_TURNS = {1: (0, 2, 3, 4, 5, 6), 2: (0, 1, 5, 6), 3: (2, 4), 4: (2, 3), 5: (0, 1, 6), 6: (0, 1, 5)}
"""Outputs by inputs. What comes from the east goes west; from lane 0 of the north, south or west."""


def free_mesh_turn(into, out):
    """Whether packets that come at a port of `MESH_LANES` may leave by another."""
    return out in _MESH_TURNS.get(into, range(len(MESH_LANES)))


def _around(position, destination, size):
    """(whether a packet goes onward, whether it goes back) from a position of a ring to a destination. No packet
    passes through position 0."""
    half = size // 2
    if position == 0:
        return (destination != 0) & (destination <= half), destination > half
    nearer = int(position <= size - position)
    home = destination == 0
    return (destination > position) | (home & (1 - nearer)), (destination < position) & (~home | nearer)


def ring_route(position, size):
    """Routing in a ring of `size` nodes, numbered in their order. Ports as in `RING_PORTS`. A packet passes no node 0
    on its way, so it may go the longer way round; those from or to node 0 take the shorter one."""

    def route(destination, port):
        onward, back = _around(position, destination, size)
        return If(onward, port.eq(1)).Elif(back, port.eq(2)).Else(port.eq(LOCAL))

    return route


def torus_route(x, y, x_bits, sizes):
    """Routing in a torus of sizes (x, y): along the ring of x first, then along that of y, each as in `ring_route`.
    Destinations and ports as for `mesh_route`."""

    def route(destination, port):
        ways = [*_around(x, destination[:x_bits], sizes[0]), *_around(y, destination[x_bits:], sizes[1])]
        statements = If(ways[0], port.eq(1))
        for number, way in enumerate(ways[1:], 2):
            statements = statements.Elif(way, port.eq(number))
        return statements.Else(port.eq(LOCAL))

    return route


def short_ring_route(position, size, reach):
    """Routing in a ring by the shorter way, or by the one that is left: reach: of `RingReach`, (onward, back). Ports as
    in `RING_LANES`; a packet for which there is no way goes to a port beyond them, which drops it. On its way a
    packet never turns back. At equal distances there is a choice."""
    none = len(RING_LANES)

    def towards(directions):
        def route(destination, port, other):
            onward, back = Signal(max=2 * size), Signal(max=2 * size)
            open_onward, open_back = Signal(), Signal()
            onward_port, back_port = 1 + (destination > position), 3 + (destination < position)
            return [
                onward.eq(Mux(destination > position, destination - position, destination + size - position)),
                back.eq(size - onward),
                open_onward.eq((onward <= reach[0]) & int("onward" in directions)),
                open_back.eq((back <= reach[1]) & int("back" in directions)),
                If(destination == position, port.eq(LOCAL))
                .Elif(destination >= size, port.eq(none))
                .Elif(open_onward & (~open_back | (onward <= back)), port.eq(onward_port))
                .Elif(open_back, port.eq(back_port))
                .Else(port.eq(none)),
                other.eq(Mux(open_onward & open_back & (onward == back), back_port, port)),
            ]

        return route

    return [towards(["onward", "back"]), *2 * [towards(["back"])], *2 * [towards(["onward"])]]


_RING_TURNS = {1: (0, 3, 4), 2: (0, 4), 3: (0, 1, 2), 4: (0, 2)}


def short_ring_turn(into, out):
    """Whether packets that come at a port of `RING_LANES` may leave by another."""
    return out in _RING_TURNS.get(into, range(len(RING_LANES)))


class RingReach(Module):
    """How many nodes of a ring can be reached onward, and how many back, from what both neighbours say of their own.

    `up` (in): the cable onward and the one back are up. `far` (in): `reach` of the neighbours, that onward of the
    one onward, and that back of the one back; of no meaning while the cable is down. `reach` (out): onward, back.
    A lost cable, or one that is there again, is known to all nodes after as many messages as there are nodes.
    """

    def __init__(self, size):
        self.up = [Signal(name=f"up_{way}") for way in ("onward", "back")]
        self.far, self.reach = [
            [Signal(max=size, name=f"{name}_{way}", reset=size - 1) for way in ("onward", "back")]
            for name in ("far", "reach")
        ]

        # # #

        for up, far, reach in zip(self.up, self.far, self.reach, strict=True):
            self.sync += reach.eq(Mux(up, Mux(far == size - 1, far, far + 1), 0))
