"""Arithmetic routes in networks of any form: they lead everywhere, no circle of cables waits for itself, and under
full load everything arrives. The routes are those of the logic; the network in which they are played is a model of
packets."""

from graphlib import CycleError, TopologicalSorter
from random import Random

import pytest
from migen import *

from kairos_gateware.link.switch.routes import (
    LOCAL,
    UP,
    adaptive_route,
    mesh_route,
    ring_route,
    torus_route,
    tree_route,
)
from kairos_gateware.link.switch.switch import Switch
from kairos_gateware.testbenches.simulator import run_simulation

X_BITS = 4
EAST, WEST, NORTH, SOUTH = 1, 2, 3, 4


class Network:
    """addresses, routes: of each node. joined: node beyond each (node, port), and its port. ways: of each (node,
    destination), the ports that a packet may take, the preferred one first."""

    def __init__(self, addresses, routes, cables, choice=False):
        self.count = len(addresses)
        self.joined = {**dict(cables), **{b: a for a, b in cables}}
        self.ways = self._ways(addresses, routes, choice)

    @staticmethod
    def _ways(addresses, routes, choice):
        dut, destination = Module(), Signal(8)
        ports = [[Signal(4) for _ in range(1 + choice)] for _ in routes]
        dut.comb += [route(destination, *of) for route, of in zip(routes, ports, strict=True)]
        ways = {}

        def read():
            for to, address in enumerate(addresses):
                yield destination.eq(address)
                yield
                for node, of in enumerate(ports):
                    found = []
                    for signal in of:
                        found.append((yield signal))
                    ways[node, to] = list(dict.fromkeys(found))

        run_simulation(dut, read())
        return ways

    def steps(self, node, to):
        """(port, next node) of each way."""
        return [(port, self.joined[node, port][0]) for port in self.ways[node, to] if port != LOCAL]

    def hops(self, node, to):
        """Cables on the longest way; fails if one leads nowhere."""
        longest, now = 0, {node}
        while now != {to}:
            now = {beyond for at in now for _, beyond in (self.steps(at, to) if at != to else [(0, to)])}
            longest += 1
            assert now and longest <= 4 * self.count
        return longest

    def waits(self):
        """For each cable in a direction, those that a packet on it may wait for."""
        graph = {}
        for to in range(self.count):
            for node in range(self.count):
                for port, beyond in self.steps(node, to):
                    after = [(beyond, further) for further, _ in self.steps(beyond, to)]
                    graph.setdefault((node, port), set()).update(after)
        return graph


def chained(nodes, onward, back, closed=True):
    """Cables from each of these nodes to the next one."""
    pairs = list(zip(nodes, nodes[1:] + nodes[:1], strict=True))
    return [((a, onward), (b, back)) for a, b in (pairs if closed else pairs[:-1])]


def grid(width, height, closed, route, choice=False):
    places = [(x, y) for y in range(height) for x in range(width)]
    rows = [[y * width + x for x in range(width)] for y in range(height)]
    cables = [cable for row in rows for cable in chained(row, EAST, WEST, closed)]
    cables += [
        cable for column in map(list, zip(*rows, strict=True)) for cable in chained(column, NORTH, SOUTH, closed)
    ]
    return Network([x | y << X_BITS for x, y in places], [route(x, y) for x, y in places], cables, choice)


def ring(count):
    return Network(list(range(count)), [ring_route(n, count) for n in range(count)], chained(list(range(count)), 1, 2))


def one_way(count):
    """A ring whose packets circulate: it can deadlock, and shows that the tests would notice."""

    def route(own):
        return lambda destination, port: port.eq(Mux(destination == own, LOCAL, 1))

    return Network(list(range(count)), [route(n) for n in range(count)], chained(list(range(count)), 1, 2))


def tree():
    """Eight nodes: 0 has 1, 4 and 7; 1 has 2 and 3; 4 has 5, and that 6."""
    behind = [[3, 3, 1], [1, 1], [], [], [2], [1], [], []]
    cables = []
    for node, sizes in enumerate(behind):
        children = [node + 1 + sum(sizes[:n]) for n in range(len(sizes))]
        cables += [((node, UP + 1 + n), (child, UP)) for n, child in enumerate(children)]
    return Network(list(range(8)), [tree_route(node, sizes) for node, sizes in enumerate(behind)], cables)


NETWORKS = {
    "tree": tree,
    "mesh": lambda: grid(4, 3, False, lambda x, y: mesh_route(x, y, X_BITS)),
    "adaptive mesh": lambda: grid(4, 3, False, lambda x, y: adaptive_route(x, y, X_BITS), choice=True),
    "ring of 3": lambda: ring(3),
    "ring of 8": lambda: ring(8),
    "torus": lambda: grid(4, 3, True, lambda x, y: torus_route(x, y, X_BITS, (4, 3))),
}


@pytest.fixture(scope="module", params=NETWORKS)
def network(request):
    return NETWORKS[request.param]()


def test_routes_lead_from_every_node_to_every_other(network):
    for node in range(network.count):
        assert network.ways[node, node] == [LOCAL]
        assert all(network.hops(node, to) < network.count for to in range(network.count) if to != node)


def test_packets_never_wait_in_a_circle(network):
    """Without a circle in this graph a network cannot deadlock (Dally and Seitz, 1987)."""
    assert len(list(TopologicalSorter(network.waits()).static_order())) >= network.count
    with pytest.raises(CycleError):
        list(TopologicalSorter(one_way(4).waits()).static_order())


def test_ways_through_meshes_are_shortest():
    for kind in ("mesh", "adaptive mesh"):
        mesh = NETWORKS[kind]()
        for node in range(12):
            for to in range(12):
                away = abs(node % 4 - to % 4) + abs(node // 4 - to // 4)
                assert node == to or mesh.hops(node, to) == away
    # To or from node 0 a ring is used both ways
    assert [ring(8).hops(0, to) for to in range(1, 8)] == [1, 2, 3, 4, 3, 2, 1]
    assert [ring(8).hops(node, 0) for node in range(1, 8)] == [1, 2, 3, 4, 3, 2, 1]


class Traffic:
    """Packets in a network whose queues, one for each input and output of a node, have room for one."""

    def __init__(self, network, seed, opposite=False):
        self.network, self.random, self.opposite = network, Random(seed), opposite
        self.queues, self.sent, self.arrived = {}, 0, 0

    def enter(self, node, port, to):
        """Whether a packet has found room at this input: where it prefers to go, or else at the other way."""
        for way in self.network.ways[node, to]:
            if (node, port, way) not in self.queues:
                self.queues[node, port, way] = to
                return True
        return False

    def step(self, offering):
        """Each output passes one packet on, of inputs in random order; each node offers one."""
        places, used = list(self.queues), set()
        self.random.shuffle(places)
        for node, port, way in places:
            to = self.queues[node, port, way]
            if way == LOCAL:
                self.arrived += 1
                del self.queues[node, port, way]
            elif (node, way) not in used and self.enter(*self.network.joined[node, way], to):
                used.add((node, way))
                del self.queues[node, port, way]
        for node in range(self.network.count) if offering else ():
            other = (node + self.network.count // 2) % self.network.count
            to = other if self.opposite else self.random.randrange(self.network.count)
            if to != node:
                self.sent += self.enter(node, LOCAL, to)

    def play(self, cycles=1500, rest=500):
        for cycle in range(cycles + rest):
            self.step(cycle < cycles)
        return self.sent, self.arrived


@pytest.mark.parametrize("opposite", [False, True])
def test_everything_arrives_under_full_load(network, opposite):
    sent, arrived = Traffic(network, seed=5, opposite=opposite).play()
    assert sent == arrived > 1500
    stuck = Traffic(one_way(8), seed=5, opposite=True)
    assert stuck.play()[0] > stuck.arrived, "a ring in which packets circulate blocks"


def test_choice_lets_more_packets_pass():
    """One node sends to the opposite corner, while a column in between is busy."""
    counts = {}
    for kind in ("mesh", "adaptive mesh"):
        traffic = Traffic(NETWORKS[kind](), seed=6)
        taken = 0
        for _ in range(2000):
            traffic.enter(1, LOCAL, 2)
            traffic.enter(5, LOCAL, 2)
            taken += traffic.enter(0, LOCAL, 11)
            traffic.step(False)
        counts[kind] = taken
    assert counts["adaptive mesh"] > 1.2 * counts["mesh"]


def test_switch_takes_the_second_way_while_the_first_is_full():
    dut, seen = Switch(5, adaptive_route(0, 0, X_BITS), longest=2, choice=True), []

    def send():
        flit = dut.into[LOCAL]
        yield flit.data.eq(2 | 2 << X_BITS)
        yield flit.valid.eq(1)
        for n in range(12):
            yield flit.last.eq(n % 2)
            yield
        yield flit.valid.eq(0)
        for _ in range(6):
            yield

    @passive
    def take():
        yield dut.out[NORTH].ready.eq(1)
        while True:
            yield
            seen.append((yield dut.out[NORTH].valid))

    run_simulation(dut, [send(), take()])
    assert sum(seen) >= 4, "eastwards nothing is taken"
