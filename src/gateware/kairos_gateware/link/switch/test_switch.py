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
from kairos_gateware.testbenches.switch import FIXED, NODES, OPPOSITE, RANDOM, SwitchNetwork
from kairos_gateware.verilated.lockstep import build_lockstep

_IN, _OUT = ("offering", "pattern", "target", "taken"), ("sent", "received", "wrong")
LOAD, DRAIN = 20_000, 30_000


@pytest.fixture(scope="module")
def network():
    built = {}

    def of(kind):
        if kind not in built:
            dut = SwitchNetwork(kind)
            inputs, outputs = [{name: getattr(dut, name) for name in names} for names in (_IN, _OUT)]
            built[kind] = build_lockstep(root() / f"switch_{kind}", dut, inputs, outputs)
        return built[kind]

    return of


def play(engine, spans, load=LOAD):
    """spans: (pattern, target, taken), one after the other."""
    rows = np.zeros(load + DRAIN, engine.inputs)
    rows["taken"] = 256
    rows["offering"][:load] = 1
    each = load // len(spans)
    for n, (pattern, target, taken) in enumerate(spans):
        at = slice(n * each, (n + 1) * each)
        rows["pattern"][at], rows["target"][at], rows["taken"][at] = pattern, target, taken
    return engine.play(rows)


def complete(shown):
    end = shown[-1]
    assert not end["wrong"].any()
    assert end["sent"].sum() == end["received"].sum(), "packets are left in the network"
    return end


TRAFFIC = {
    "random": [(RANDOM, 0, 256)],
    "random, slow boards": [(RANDOM, 0, 40)],
    "all to the first": [(FIXED, 0, 256)],
    "all to the first, slow": [(FIXED, 0, 30)],
    "all to the last": [(FIXED, -1, 200)],
    "opposite": [(OPPOSITE, 0, 256)],
    "changing": [(FIXED, 0, 20), (OPPOSITE, 0, 0), (FIXED, -1, 60), (RANDOM, 0, 0), (OPPOSITE, 0, 90)] * 4,
}


@pytest.mark.parametrize("kind", ["tree", *[pytest.param(kind, marks=pytest.mark.long) for kind in ("chain", "mesh")]])
@pytest.mark.parametrize("traffic", TRAFFIC)
def test_every_packet_arrives_in_any_network(network, kind, traffic):
    spans = [(pattern, target % NODES[kind], taken) for pattern, target, taken in TRAFFIC[traffic]]
    end = complete(play(network(kind), spans))
    assert (end["sent"] > 5).all(), "every board gets its turn"


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


def test_deadlock_in_a_ring_is_detected(network):
    shown = play(network("ring"), [(OPPOSITE, 0, 256)])
    assert not shown["wrong"].any()
    with pytest.raises(AssertionError, match="left in the network"):
        complete(shown)


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
