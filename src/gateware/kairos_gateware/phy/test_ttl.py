"""TTL PHYs, in Migen's simulator: outputs change with the event's cycle or sample, gates and stamps
are exact."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.pad import Pad
from kairos_gateware.phy.ttl import InOut, Output
from kairos_gateware.testbenches.phy import play


def make(kind, serialised=False):
    return kind(0, Pad("ttl", "inout" if kind is InOut else "out", 0, serialised))


def test_output_changes_at_its_time():
    record = play(make(Output), {5: (0, 1, 0), 6: (0, 0, 3), 9: (0, 1, 0)}, 12)
    assert record.outputs[0] == [(o, 1) for o in [0] * 5 + [255] + [0] * 3 + [255] * 3]


def test_serialised_output_changes_at_its_sample():
    record = play(make(Output, True), {5: (0, 1, 3), 6: (0, 0, 6), 7: (0, 1, 0), 9: (0, 0, 7)}, 12)
    assert [o for o, _ in record.outputs[0]] == [0] * 5 + [0b11111000, 0b00111111, 255, 255, 0b01111111, 0, 0]
    # A cycle may be repeated only once all samples have the level
    assert [cycle for cycle, settled in enumerate(record.settled) if not settled] == [5, 6, 9]


@pytest.mark.parametrize("serialised", [False, True])
def test_direction_of_bidirectional_pin_changes_on_time(serialised):
    record = play(make(InOut, serialised), {3: (0, 1, 0), 5: (1, 1, 0), 8: (1, 0, 0)}, 10)
    assert [oe for _, oe in record.outputs[0]] == [0] * 5 + [1] * 3 + [0] * 2
    assert [o for o, _ in record.outputs[0]] == [0] * 3 + [255] * 7


def test_edge_anywhere_in_a_cycle_belongs_to_it():
    levels = {(0, 10): 0xF0, (0, 11): 0xFF, (0, 15): 0x80, (0, 16): 0, (0, 20): 0x01, (0, 21): 0}
    record = play(make(InOut), {2: (2, 3, 0)}, 30, levels)
    assert record.inputs == [(10, 0, 1), (16, 0, 0)]  # the pulse of one sample at the beginning of cycle 20 is missed


def test_serialised_edges_have_their_sample():
    levels = {(0, 10): 0xF0, (0, 11): 0xFF, (0, 15): 0x80, (0, 16): 0, (0, 20): 0x01, (0, 21): 0}
    record = play(make(InOut, True), {2: (2, 3, 0)}, 30, levels)
    # In cycle 15 the level falls and rises again: the first edge counts
    assert record.inputs == [(10, 4, 1), (15, 0, 0), (16, 0, 0), (20, 0, 1)]


def expected_inputs(events, levels, cycles, serialised):
    """Semantics in plain Python, sample by sample."""
    result, before, sensitivity, level = [], 0, 0, 0
    for cycle in range(cycles):
        level = levels.get((0, cycle), 255 * (level >> 7))
        address, data, fine = events.get(cycle, (None, 0, 0))
        samples = range(8) if serialised else [7]
        boundary = fine if serialised else 0
        found = []
        for i in samples:
            if i >= boundary and address in (2, 3):
                sensitivity = data
            new = level >> i & 1
            if (1 if new > before else 2 if new < before else 0) & sensitivity:
                found.append((cycle, i if serialised else 0, new))
            before = new
        if address == 3:
            found = [(cycle, boundary, level >> (boundary if serialised else 7) & 1)]
        result += found[:1]
    return result


_EVENTS = st.dictionaries(
    st.integers(3, 40), st.tuples(st.sampled_from([2, 2, 3, 0]), st.integers(0, 3), st.integers(0, 7)), max_size=12
)


@settings(max_examples=40, deadline=None)
@given(_EVENTS, st.dictionaries(st.integers(3, 40), st.sampled_from([0, 255]), max_size=20))
def test_input_gate_is_exact_to_the_cycle(events, levels):
    levels = {(0, cycle): level for cycle, level in levels.items()}
    assert play(make(InOut), events, 50, levels).inputs == expected_inputs(events, levels, 48, False)


@settings(max_examples=60, deadline=None)
@given(_EVENTS, st.dictionaries(st.integers(3, 40), st.integers(0, 255), max_size=30))
def test_serialised_input_gate_is_exact_to_the_sample(events, levels):
    levels = {(0, cycle): levels.get(cycle, 255 * (levels.get(cycle - 1, 0) >> 7)) for cycle in sorted(levels)}
    levels |= {(0, c + 1): 255 * (v >> 7) for (_, c), v in levels.items() if (0, c + 1) not in levels}
    assert play(make(InOut, True), events, 50, levels).inputs == expected_inputs(events, levels, 48, True)


@pytest.mark.parametrize("serialised", [False, True])
def test_channel_is_settled_while_idle(serialised):
    record = play(make(InOut, serialised), {}, 12, {(0, 4): 255})
    assert record.settled == [1] * 4 + [0] * 3 + [1] * 5
    record = play(make(InOut, serialised), {}, 12, {(0, 4): 0x80})  # a pattern in every cycle
    assert record.settled == [1] * 4 + [0] * 3 + [0 if serialised else 1] * 5
