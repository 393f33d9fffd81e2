"""Edge counter against a count in plain Python, sample by sample."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.pad import Pad
from kairos_gateware.phy.edge_counter import EdgeCounter
from kairos_gateware.phy.edges import EdgeDetector
from kairos_gateware.testbenches.phy import play


class Bench(Module):
    def __init__(self, serialised, width=31):
        pad = Pad("ttl", "inout", 0, serialised)
        self.submodules.edges = EdgeDetector(pad)
        self.submodules.counter = self.counter = EdgeCounter(1, self.edges, width)
        self.counter.pads = [pad]


def run(serialised, events, levels, cycles=60, width=31):
    dut = Bench(serialised, width)
    return play(dut.counter, events, cycles, {(0, c): v for c, v in levels.items()}, dut=dut).inputs


def model(serialised, events, levels, cycles=58, width=31):
    result, before, config, count, level = [], 0, 0, 0, 0
    for cycle in range(cycles):
        level = levels.get(cycle, level)
        _, data, fine = events.get(cycle, (0, None, 0))
        fine = fine if serialised else 0
        for i in range(8) if serialised else [7]:
            if data is not None and i >= fine:
                if data & 4:
                    result.append((cycle, fine, count))
                config, count, data = data & 3, 0 if data & 8 else count, None
            new = level >> i & 1
            if (1 if new > before else 2 if new < before else 0) & config:
                count = min(count + 1, 2 ** (width - 1) - 1)
            before = new
    return result


_EVENTS = st.dictionaries(st.integers(3, 50), st.tuples(st.just(0), st.integers(0, 15), st.integers(0, 7)), max_size=12)


@settings(max_examples=60, deadline=None)
@given(st.booleans(), _EVENTS, st.dictionaries(st.integers(3, 50), st.integers(0, 255), max_size=40))
def test_counts_in_any_gate_agree_with_model(serialised, events, levels):
    assert run(serialised, events, levels) == model(serialised, events, levels)


@pytest.mark.parametrize("serialised", [False, True])
def test_gate_opened_by_the_driver_counts_its_edges(serialised):
    levels = {cycle: 255 * (cycle & 1) for cycle in range(10, 40)}
    events = {15: (0, 0b1001, 0), 25: (0, 0b0100, 0)}  # rising, from zero; then send
    assert run(serialised, events, levels) == [(25, 0, 5)]


def test_full_counter_saturates_at_its_maximum():
    levels = {cycle: 0b01010101 for cycle in range(10, 40)}
    events = {5: (0, 0b1011, 0), 9: (0, 0b0111, 0), 12: (0, 0b0111, 0), 30: (0, 0b1111, 0), 32: (0, 0b0100, 0)}
    expected = model(True, events, levels, width=5)
    assert run(True, events, levels, width=5) == expected
    assert [count for _, _, count in expected] == [0, 15, 15, 15]
