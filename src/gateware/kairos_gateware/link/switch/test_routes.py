"""Arithmetic routes in networks of any form: they lead everywhere, no circle of cables waits for itself, and under
full load everything arrives. The routes are those of the logic; the network in which they are played is a model of
packets."""

from graphlib import CycleError, TopologicalSorter
from itertools import combinations, product
from random import Random

import pytest
from migen import *

from kairos_gateware.link.remote.forward import KINDS, turns
from kairos_gateware.link.switch.routes import (
    LOCAL,
    UP,
    RingReach,
    adaptive_route,
    crossed_route,
    free_mesh_route,
    free_mesh_turn,
    mesh_route,
    ring_route,
    short_ring_route,
    short_ring_turn,
    torus_route,
    tree_route,
)
from kairos_gateware.link.switch.switch import Switch
from kairos_gateware.testbenches.simulator import run_simulation
from kairos_gateware.testbenches.switch import naive_mesh_route

X_BITS = 4
EAST, WEST, NORTH, SOUTH = 1, 2, 3, 4


class Network:
    """addresses, routes: of each node. joined: node beyond each (node, port), and its port. ways: of each (node, input,
    destination), the ports that a packet may take, the preferred one first."""

    def __init__(self, addresses, routes, cables, choice=False):
        self.count = len(addresses)
        self.joined = {**dict(cables), **{b: a for a, b in cables}}
        self.ways = self._ways(addresses, routes, choice)

    def _ways(self, addresses, routes, choice):
        dut, destination = Module(), Signal(8)
        inputs = [(node, LOCAL) for node in range(self.count)] + list(self.joined)
        ports = {into: [Signal(4) for _ in range(1 + choice)] for into in inputs}
        for (node, port), of in ports.items():
            route = routes[node]
            dut.comb += (route[port] if isinstance(route, list) else route)(destination, *of)
        ways = {}

        def read():
            for to, address in enumerate(addresses):
                yield destination.eq(address)
                yield
                for (node, port), of in ports.items():
                    found = []
                    for signal in of:
                        found.append((yield signal))
                    ways[node, port, to] = list(dict.fromkeys(found))

        run_simulation(dut, read())
        return ways

    def steps(self, node, into, to):
        """(port, next node and its input) of each way."""
        return [(port, self.joined.get((node, port))) for port in self.ways[node, into, to] if port != LOCAL]

    def hops(self, node, to):
        """Cables on the longest way; fails if one leads nowhere."""
        longest, now = 0, {(node, LOCAL)}
        while any(at != to for at, _ in now):
            now = {beyond for at, into in now if at != to for _, beyond in self.steps(at, into, to)}
            longest += 1
            assert None not in now and longest <= 4 * self.count
        return longest

    def waits(self):
        """For each cable in a direction, those that a packet on it may wait for."""
        graph = {}
        for to in range(self.count):
            seen, now = set(), [(node, LOCAL) for node in range(self.count)]
            while now:
                node, into = now.pop()
                for port, beyond in self.steps(node, into, to):
                    if beyond is None:
                        continue
                    after = [(beyond[0], further) for further, there in self.steps(*beyond, to) if there is not None]
                    graph.setdefault((node, port), set()).update(after)
                    if beyond not in seen:
                        seen.add(beyond)
                        now.append(beyond)
        return graph

    def answers(self):
        """For each answer, ((node, port) by which it leaves, to): a node answers by the cable at which a request has
        come to it."""
        found = set()
        for to in range(self.count):
            for asking in range(self.count):
                now, seen = {(asking, LOCAL)}, set()
                while now:
                    seen |= now
                    now = {beyond for at, into in now if at != to for _, beyond in self.steps(at, into, to)} - seen
                found |= {((node, into), asking) for node, into in seen if node == to != asking}
        return found

    def waits_of_answers(self):
        """As `waits`, and (node, input, output) of all that the switches pass on."""
        graph, turns, now = {}, set(), list(self.answers())
        seen = set(now)
        while now:
            cable, to = now.pop()
            node, into = self.joined[cable]
            turns |= {(node, into, port) for port in self.ways[node, into, to]}
            for port, beyond in self.steps(node, into, to):
                assert beyond is not None, f"no cable is at port {port} of node {node}, for an answer to {to}"
                graph.setdefault(cable, set()).add((node, port))
                if ((node, port), to) not in seen:
                    seen.add(((node, port), to))
                    now.append(((node, port), to))
        return graph, turns

    def turns(self):
        """(input, output) of all packets that a switch passes on."""
        found = set()
        for to in range(self.count):
            now = [(node, LOCAL) for node in range(self.count)]
            while now:
                node, into = now.pop()
                found |= {(into, port) for port in self.ways[node, into, to]}
                now += [beyond for _, beyond in self.steps(node, into, to)]
        return found


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


def short_ring(count, reach=None):
    """reach: of each node, (onward, back)."""
    nodes, reach = list(range(count)), reach or [(count - 1, count - 1)] * count
    routes = [short_ring_route(n, count, reach[n]) for n in nodes]
    return Network(nodes, routes, chained(nodes, 1, 3) + chained(nodes, 2, 4), choice=True)


def cut_ring(count, cut):
    """The same without the cable from node `cut` onward."""
    return short_ring(count, [((cut - n) % count, (n - cut - 1) % count) for n in range(count)])


def free_mesh(width, height):
    mesh = grid(width, height, False, lambda x, y: free_mesh_route(x, y, X_BITS), choice=True)
    lanes = {((a, port + 2), (b, there + 2)) for (a, port), (b, there) in mesh.joined.items() if port == NORTH}
    places = [(x, y) for y in range(height) for x in range(width)]
    cables = [cable for cable in mesh.joined.items() if cable[0][1] in (EAST, NORTH)]
    routes = [free_mesh_route(x, y, X_BITS) for x, y in places]
    return Network([x | y << X_BITS for x, y in places], routes, cables + list(lanes), choice=True)


def free_mesh_of_one_lane():
    """A mesh with a free choice whose cables have one lane each: it can deadlock."""

    return grid(4, 3, False, lambda x, y: naive_mesh_route(x, y, X_BITS), choice=True)


def one_way(count):
    """A ring whose packets circulate: it can deadlock, and shows that the tests would notice."""

    def route(own):
        return lambda destination, port: port.eq(Mux(destination == own, LOCAL, 1))

    return Network(list(range(count)), [route(n) for n in range(count)], chained(list(range(count)), 1, 2))


BEHIND = [[3, 3, 1], [1, 1], [], [], [2], [1], [], []]
"""Eight nodes in a tree: 0 has 1, 4 and 7; 1 has 2 and 3; 4 has 5, and that 6."""
CROSSES = [(1, 5), (2, 4), (3, 7), (6, 0), (2, 3)]
"""Links beside the tree: between subtrees, from a leaf to the root, and between siblings."""


def branches():
    cables = []
    for node, sizes in enumerate(BEHIND):
        children = [node + 1 + sum(sizes[:n]) for n in range(len(sizes))]
        cables += [((node, UP + 1 + n), (child, UP)) for n, child in enumerate(children)]
    return cables


def tree():
    return Network(list(range(8)), [tree_route(node, sizes) for node, sizes in enumerate(BEHIND)], branches())


def crossed_tree(lost=(), crosses=CROSSES):
    """lost: of `crosses`, which do not lead anywhere."""
    ends, cables = [[] for _ in BEHIND], branches()
    for pair in crosses:
        places = [(node, UP + 1 + len(BEHIND[node]) + len(ends[node])) for node in pair]
        cables.append(tuple(places))
        for node, other in (pair, pair[::-1]):
            ends[node].append((C(other, 4), C(1 + sum(BEHIND[other]), 4), C(pair not in lost)))
    routes = [crossed_route(C(node, 4), *of) for node, of in enumerate(zip(BEHIND, ends, strict=True))]
    return Network(list(range(8)), routes, cables)


def known_differently(crosses=CROSSES):
    """The tree whose nodes know of any of its links beside it whether they lead, or do not know yet."""
    lost = [some for count in range(len(crosses) + 1) for some in combinations(crosses, count)]
    trees = [crossed_tree(some, crosses) for some in lost]
    for key in trees[0].ways:
        trees[0].ways[key] = list({port for some in trees for port in some.ways[key]})
    return trees[0]


NETWORKS = {
    "tree": tree,
    "tree with links beside it": crossed_tree,
    "tree with lost links beside it": lambda: crossed_tree([(1, 5), (3, 7)]),
    "mesh": lambda: grid(4, 3, False, lambda x, y: mesh_route(x, y, X_BITS)),
    "adaptive mesh": lambda: grid(4, 3, False, lambda x, y: adaptive_route(x, y, X_BITS), choice=True),
    "mesh with two lanes": lambda: free_mesh(4, 3),
    "ring of 3": lambda: ring(3),
    "ring of 8": lambda: ring(8),
    "ring of 4 with two lanes": lambda: short_ring(4),
    "ring of 7 with two lanes": lambda: short_ring(7),
    "ring of 6, a cable lost": lambda: cut_ring(6, 2),
    "torus": lambda: grid(4, 3, True, lambda x, y: torus_route(x, y, X_BITS, (4, 3))),
}


@pytest.fixture(scope="module", params=NETWORKS)
def network(request):
    return NETWORKS[request.param]()


def test_routes_lead_from_every_node_to_every_other(network):
    for node in range(network.count):
        assert network.ways[node, LOCAL, node] == [LOCAL]
        assert all(network.hops(node, to) < network.count for to in range(network.count) if to != node)


def test_packets_never_wait_in_a_circle(network):
    """Without a circle in this graph a network cannot deadlock (Dally and Seitz, 1987)."""
    assert len(list(TopologicalSorter(network.waits()).static_order())) >= network.count
    for naive in (one_way(4), free_mesh_of_one_lane()):
        with pytest.raises(CycleError):
            list(TopologicalSorter(naive.waits()).static_order())


def test_packets_never_wait_in_a_circle_while_nodes_of_a_ring_have_seen_different_lost_cables():
    rings = [short_ring(4), *[cut_ring(4, cut) for cut in range(4)]]
    for key in rings[0].ways:
        rings[0].ways[key] = list({port for ring in rings for port in ring.ways[key]})
    assert len(list(TopologicalSorter(rings[0].waits()).static_order())) > 8


def test_packets_never_wait_in_a_circle_while_nodes_have_seen_different_lost_links_beside_a_tree():
    """A node that has not noticed yet, and links that come back while packets are on their way."""
    assert len(list(TopologicalSorter(known_differently().waits()).static_order())) == 2 * len([*branches(), *CROSSES])


def test_answers_that_leave_by_the_links_of_requests_never_wait_in_a_circle():
    """Also while nodes know of different lost links."""
    graph, _ = known_differently().waits_of_answers()
    assert len(list(TopologicalSorter(graph).static_order())) > 8


def test_answers_come_to_nodes_without_links_beside_the_tree_by_the_cables_of_their_requests():
    """So that only nodes with such links have to tell their initiators' answers apart."""
    random, cables = Random(3), [tuple(end[0] for end in cable) for cable in branches()]
    others = [pair for pair in combinations(range(8), 2) if pair not in cables]
    for _ in range(4):
        crosses = random.sample(others, 3)
        crossed = known_differently(crosses)
        for cable, to in crossed.answers():
            if any(to in pair for pair in crosses):
                continue
            now = {crossed.joined[cable]}
            while any(at != to for at, _ in now):
                now = {there for at, into in now if at != to for _, there in crossed.steps(at, into, to)} | {
                    place for place in now if place[0] == to
                }
            assert {into for _, into in now} == set(crossed.ways[to, LOCAL, cable[0]])


def test_boards_forward_between_all_ports_that_routes_beside_a_tree_use():
    crossed = known_differently()
    _, answers = crossed.waits_of_answers()
    requests = {
        (node, into, port)
        for to in range(crossed.count)
        for node, into in crossed.joined
        for port in crossed.ways[node, into, to]
        if node != to and (node, into) in _reached(crossed, to)
    }
    for kind, used in zip(KINDS, (requests, answers), strict=True):
        for node, into, port in used:
            crosses = sum(node in pair for pair in CROSSES)
            turn = turns(kind, len(BEHIND[node]) > 0, UP + 1 + len(BEHIND[node]), crosses > 0)
            # What is for the node itself has come by the link whose initiator waits for it, if there is no choice
            assert turn(into, port) or (port == LOCAL and not crosses), (kind.name, node, into, port)


def _reached(network, to):
    """(node, input) at which packets for a node come."""
    now, seen = {(node, LOCAL) for node in range(network.count)}, set()
    while now:
        seen |= now
        now = {beyond for at, into in now if at != to for _, beyond in network.steps(at, into, to)} - seen
    return seen


def test_links_beside_a_tree_are_used_by_the_nodes_behind_their_ends():
    crossed = crossed_tree()
    assert crossed.ways[2, LOCAL, 4] == crossed.ways[2, LOCAL, 6] == [2], "also beyond the other end"
    assert crossed.hops(2, 6) == 3 and tree().hops(2, 6) == 5
    assert crossed.hops(3, 5) == 2, "up, and across"
    assert crossed.hops(6, 3) == 3, "up, across, and down"
    assert crossed.hops(0, 6) == crossed.hops(6, 0) == 1 and crossed.hops(6, 5) == 1
    assert crossed_tree(CROSSES).hops(2, 6) == tree().hops(2, 6)


def test_ways_through_meshes_are_shortest():
    for kind in ("mesh", "adaptive mesh", "mesh with two lanes"):
        mesh = NETWORKS[kind]()
        for node in range(12):
            for to in range(12):
                away = abs(node % 4 - to % 4) + abs(node // 4 - to // 4)
                assert node == to or mesh.hops(node, to) == away
    for count in (3, 4, 7):
        around = short_ring(count)
        for node, to in product(range(count), repeat=2):
            assert around.hops(node, to) == min((to - node) % count, (node - to) % count)
    assert short_ring(4).ways[1, LOCAL, 3] == [2, 3], "both ways are equally long"
    # To or from node 0 a ring of one lane is used both ways
    assert [ring(8).hops(0, to) for to in range(1, 8)] == [1, 2, 3, 4, 3, 2, 1]
    assert [ring(8).hops(node, 0) for node in range(1, 8)] == [1, 2, 3, 4, 3, 2, 1]


class Traffic:
    """Packets in a network whose queues, one for each input and output of a node, have room for one."""

    def __init__(self, network, seed, opposite=False):
        self.network, self.random, self.opposite = network, Random(seed), opposite
        self.queues, self.sent, self.arrived = {}, 0, 0

    def enter(self, node, port, to):
        """Whether a packet has found room at this input: where it prefers to go, or else at the other way."""
        for way in self.network.ways[node, port, to]:
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


def test_full_load_blocks_networks_of_naive_routes():
    for naive, opposite in [(one_way(8), True), (free_mesh_of_one_lane(), False)]:
        traffic = Traffic(naive, seed=0, opposite=opposite)
        sent, arrived = traffic.play(cycles=4000)
        assert sent > arrived
        for _ in range(100):
            traffic.step(False)
        assert traffic.arrived == arrived, "what is left does not move"


def test_ways_in_a_ring_avoid_a_lost_cable():
    for cut in range(5):
        around = cut_ring(5, cut)
        order = [(cut + 1 + n) % 5 for n in range(5)]
        for (a, node), (b, to) in product(enumerate(order), repeat=2):
            assert around.hops(node, to) == abs(a - b)


def test_lost_cable_is_known_to_all_nodes_until_it_is_back():
    dut, size, cut = Module(), 5, Signal(max=6, reset=5)
    nodes = [RingReach(size) for _ in range(size)]
    dut.submodules += nodes
    for n, node in enumerate(nodes):
        dut.comb += [
            node.up[0].eq(cut != n),
            node.up[1].eq(cut != (n - 1) % size),
            node.far[0].eq(nodes[(n + 1) % size].reach[0]),
            node.far[1].eq(nodes[(n - 1) % size].reach[1]),
        ]

    def play():
        for lost in [5, 2, 5, 4, 0, 5]:
            yield cut.eq(lost)
            for _ in range(size + 2):
                yield
            for n, node in enumerate(nodes):
                known = ((yield node.reach[0]), (yield node.reach[1]))
                assert known == ((4, 4) if lost == 5 else ((lost - n) % 5, (n - lost - 1) % 5))

    run_simulation(dut, play())


def test_switches_have_queues_for_all_turns():
    for network, turn in [(short_ring(6), short_ring_turn), (cut_ring(6, 3), short_ring_turn)]:
        assert all(turn(*pair) for pair in network.turns())
    turns = free_mesh(4, 4).turns()
    assert {pair for pair in product(range(7), repeat=2) if free_mesh_turn(*pair)} == turns


def test_choice_lets_more_packets_pass():
    """One node sends to the opposite corner, while a column in between is busy."""
    counts = {}
    for kind in ("mesh", "adaptive mesh", "mesh with two lanes"):
        traffic = Traffic(NETWORKS[kind](), seed=6)
        taken = 0
        for _ in range(2000):
            traffic.enter(1, LOCAL, 2)
            traffic.enter(5, LOCAL, 2)
            taken += traffic.enter(0, LOCAL, 11)
            traffic.step(False)
        counts[kind] = taken
    assert min(counts["adaptive mesh"], counts["mesh with two lanes"]) > 1.2 * counts["mesh"]


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
