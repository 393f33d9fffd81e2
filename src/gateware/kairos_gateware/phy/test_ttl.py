"""TTL PHYs, in Migen's simulator: outputs change with the cycle after the strobe, gates and stamps are exact."""

from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.phy.pad import Pad
from kairos_gateware.phy.ttl import InOut, Output
from kairos_gateware.rtio.timing import INPUT_LATENCY


def play(phy, pad, events, levels, cycles):
    """events: {cycle in which the event is in force: (address, data)}; levels: {cycle: eight samples}.
    Returns ([(o, oe) per cycle], [(cycle sampled, data)])."""
    outputs, inputs = [], []
    link = phy.channel.output

    def bench():
        for cycle in range(cycles):
            event = events.get(cycle + 1)  # strobe one cycle ahead
            yield link.stb.eq(event is not None)
            if event:
                yield link.address.eq(event[0])
                yield link.data.eq(event[1])
            if cycle in levels:
                yield pad.i.eq(levels[cycle])
            yield
            outputs.append(((yield pad.o), (yield pad.oe)))
            if phy.channel.input is not None and (yield phy.channel.input.stb):
                inputs.append((cycle - INPUT_LATENCY, (yield phy.channel.input.data)))

    run_simulation(phy, bench())
    return outputs, inputs


def make(kind):
    pad = Pad("ttl", "inout" if kind is InOut else "out", 0)
    return kind(0, pad), pad


def test_output_changes_at_its_time():
    outputs, _ = play(*make(Output), {5: (0, 1), 6: (0, 0), 9: (0, 1)}, {}, 12)
    assert [o for o, _ in outputs] == [0] * 5 + [255] + [0] * 3 + [255] * 3
    assert {oe for _, oe in outputs} == {1}


def test_direction():
    outputs, _ = play(*make(InOut), {3: (0, 1), 5: (1, 1), 8: (1, 0)}, {}, 10)
    assert [oe for _, oe in outputs] == [0] * 5 + [1] * 3 + [0] * 2
    assert [o for o, _ in outputs] == [0] * 3 + [255] * 7


def test_edge_anywhere_in_a_cycle_belongs_to_it():
    _, inputs = play(*make(InOut), {2: (2, 3)}, {10: 0xF0, 11: 0xFF, 15: 0x80, 16: 0, 20: 0x01, 21: 0}, 30)
    assert inputs == [(10, 1), (16, 0)]  # the pulse of one sample at the beginning of cycle 20 is missed


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(st.integers(3, 40), st.tuples(st.sampled_from([2, 3]), st.integers(0, 3)), max_size=10),
    st.dictionaries(st.integers(3, 40), st.sampled_from([0, 255]), max_size=20),
)
def test_gates_are_exact(events, levels):
    _, inputs = play(*make(InOut), events, levels, 50)
    expected, level, sensitivity = [], 0, 0
    for cycle in range(48):
        address, data = events.get(cycle, (2, sensitivity))
        sensitivity = data
        new = int(levels.get(cycle, 255 * level) == 255)
        edge = 1 if new > level else 2 if new < level else 0
        level = new
        if edge & sensitivity or (cycle in events and address == 3):
            expected.append((cycle, level))
    assert inputs == expected


def test_settled_tells_when_nothing_moves():
    phy, pad = make(InOut)
    seen = []

    def bench():
        for cycle in range(12):
            yield pad.i.eq(255 if cycle >= 4 else 0)
            yield
            seen.append((yield phy.channel.settled))

    run_simulation(phy, bench())
    assert seen == [1] * 4 + [0] * 3 + [1] * 5
