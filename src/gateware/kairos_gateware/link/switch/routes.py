"""Arithmetic routing: which port of a switch leads to a destination, by comparing it with the node's own numbers.

Each function returns one from the destination and a signal for the port to statements; that of `adaptive_route` has two
ports. None lets packets wait for one another in a circle: docs/gateware/switch.md.
"""

from migen import *

__all__ = [
    "LOCAL",
    "MESH_PORTS",
    "RING_PORTS",
    "UP",
    "adaptive_route",
    "mesh_route",
    "ring_route",
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
