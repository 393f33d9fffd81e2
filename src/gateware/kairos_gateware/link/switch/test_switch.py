"""Networks of switches under traffic that tries to deadlock them, verilated: every packet arrives
once, whole, at its destination, in the order of its source, and once nothing more is sent, the
network becomes empty."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.figures.place import root
from kairos_gateware.link.switch.routes import LOCAL, tree_route
from kairos_gateware.link.switch.switch import Switch
from kairos_gateware.testbenches.simulator import run_simulation
from kairos_gateware.testbenches.switch import FIXED, NO_CUT, NODES, OPPOSITE, RANDOM, SwitchNetwork
from kairos_gateware.verilated.lockstep import build_lockstep

_IN, _OUT = ("offering", "pattern", "target", "taken", "cut"), ("sent", "received", "wrong", "balance", "dropped")
LOAD, DRAIN = 20_000, 30_000

SOUND = ("tree", "chain", "ring", "short ring", "mesh", "free mesh", "torus")


@pytest.fixture(scope="module")
def network():
    built = {}

    def of(kind):
        if kind not in built:
            dut = SwitchNetwork(kind)
            inputs, outputs = [{name: getattr(dut, name) for name in names} for names in (_IN, _OUT)]
            built[kind] = build_lockstep(root() / f"switch_{kind.replace(' ', '_')}", dut, inputs, outputs)
        return built[kind]

    return of


def play(engine, spans, load=LOAD, cuts=()):
    """spans: (pattern, target, taken), one after the other. cuts: (first cycle, end, cable)."""
    rows = np.zeros(load + DRAIN, engine.inputs)
    rows["taken"], rows["cut"] = 256, NO_CUT
    rows["offering"][:load] = 1
    each = load // len(spans)
    for n, (pattern, target, taken) in enumerate(spans):
        at = slice(n * each, (n + 1) * each)
        rows["pattern"][at], rows["target"][at], rows["taken"][at] = pattern, target, taken
    for begin, end, cable in cuts:
        rows["cut"][begin:end] = cable
    return engine.play(rows)


def complete(shown):
    end = shown[-1]
    assert not end["wrong"].any()
    assert end["sent"].sum() == end["received"].sum() + end["dropped"], "packets are left in the network"
    assert end["dropped"] or end["balance"].sum() % 2**32 == 0, "each once"
    return end


ALTERNATING = [(OPPOSITE, 0, 20), (RANDOM, 0, 256)] * 4
"""Also blocks a mesh whose packets have a choice, but no lanes."""
TRAFFIC = {
    "random": [(RANDOM, 0, 256)],
    "random, slow boards": [(RANDOM, 0, 40)],
    "all to the first": [(FIXED, 0, 256)],
    "all to the first, slow": [(FIXED, 0, 30)],
    "all to the last": [(FIXED, -1, 200)],
    "opposite": [(OPPOSITE, 0, 256)],
    "alternating": ALTERNATING,
    "changing": [(FIXED, 0, 20), (OPPOSITE, 0, 0), (FIXED, -1, 60), (RANDOM, 0, 0), (OPPOSITE, 0, 90)] * 4,
}


@pytest.mark.parametrize(
    "kind", ["tree", *[pytest.param(kind, marks=pytest.mark.long) for kind in SOUND if kind != "tree"]]
)
@pytest.mark.parametrize("traffic", TRAFFIC)
def test_every_packet_arrives_in_any_network(network, kind, traffic):
    spans = [(pattern, target % NODES[kind], taken) for pattern, target, taken in TRAFFIC[traffic]]
    end = complete(play(network(kind), spans))
    assert (end["sent"] > 5).all(), "every board gets its turn"
    assert not end["dropped"]


@settings(max_examples=5, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([RANDOM, FIXED, OPPOSITE]), st.integers(0, NODES["tree"] - 1), st.integers(0, 256)),
        min_size=1,
        max_size=20,
    )
)
def test_any_traffic_ends_in_an_empty_network(network, spans):
    """Also with boards that accept nothing for a while."""
    complete(play(network("tree"), spans))


@pytest.mark.parametrize(
    ("kind", "spans"),
    [
        ("circulating ring", [(OPPOSITE, 0, 256)]),
        pytest.param("naive mesh", ALTERNATING, marks=pytest.mark.long),
    ],
)
def test_deadlock_of_naive_routes_is_detected(network, kind, spans):
    shown = play(network(kind), spans)
    assert not shown["wrong"].any()
    with pytest.raises(AssertionError, match="left in the network"):
        complete(shown)


@pytest.mark.long
@pytest.mark.parametrize("traffic", TRAFFIC)
@pytest.mark.parametrize("cable", range(NODES["short ring"]))
def test_packets_go_the_other_way_round_while_a_cable_is_lost(network, traffic, cable):
    """What a lost cable already has is dropped; once all nodes know, nothing is."""
    spans = [(pattern, target % NODES["short ring"], taken) for pattern, target, taken in TRAFFIC[traffic]]
    begin, end = LOAD // 4, LOAD * 3 // 4
    shown = play(network("short ring"), spans, cuts=[(begin, end, cable)])
    complete(shown)
    dropped = shown["dropped"]
    assert dropped[begin] == 0
    assert dropped[-1] < 40
    assert (shown["sent"][end] - shown["sent"][begin] > 5).all(), "no board is cut off"


@pytest.mark.long
@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, LOAD), st.integers(1, 3000), st.integers(0, 3)), max_size=30))
def test_cables_lost_at_any_time_leave_no_packet_in_the_ring(network, cuts):
    spans = [(OPPOSITE, 0, 256), (RANDOM, 0, 200), (FIXED, 1, 256), (RANDOM, 0, 20)] * 2
    complete(play(network("short ring"), spans, cuts=[(begin, begin + length, to) for begin, length, to in cuts]))


def test_two_flows_through_one_switch_do_not_hinder_each_other():
    """A packet to a blocked output waits, and one after it to another output passes."""
    dut, seen = Switch(4, tree_route(0, [1, 1]), longest=2), []

    def send():
        flit = dut.into[LOCAL]
        for destination in (1, 2):
            for last in (0, 1):
                yield flit.valid.eq(1)
                yield flit.last.eq(last)
                yield flit.data.eq(destination)
                yield
                while not (yield flit.ready):
                    yield
        yield flit.valid.eq(0)

    @passive
    def take():
        yield dut.out[3].ready.eq(1)
        cycle = 0
        while True:
            yield
            cycle += 1
            if (yield dut.out[3].valid):
                seen.append((cycle, (yield dut.out[3].last), (yield dut.out[3].data)))

    def wait():
        for _ in range(20):
            yield

    run_simulation(dut, [send(), take(), wait()])
    assert [rest for _, *rest in seen] == [[0, 2], [1, 2]]
    assert seen[1][0] == seen[0][0] + 1


def test_queue_shorter_than_longest_packet_is_refused():
    with pytest.raises(ValueError, match="a queue of 4 flits does not hold a packet of 8"):
        Switch(2, tree_route(0, []), longest=8, depth=4)
