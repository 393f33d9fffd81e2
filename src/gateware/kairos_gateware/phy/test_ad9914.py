"""AD9914 bus against chips in plain Python that latch address and data when WR rises, and apply
them with FUD."""

from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.pad import Pad
from kairos_gateware.phy.ad9914 import CYCLES, Ad9914Bus
from kairos_gateware.testbenches.phy import play
from kairos_gateware.testbenches.simulator import run_simulation

CHIPS = 2
WRITE_N, UPDATE, RESET, SELECT_N = 24, 25, 26, 27


def make():
    def pads(name, count):
        return [Pad(f"{name}{i}", "out", 0) for i in range(count)]

    return Ad9914Bus(0, pads("a", 8), pads("d", 16), *pads("x", 3), pads("sel_n", CHIPS))


def chips(record, cycles):
    """[(cycle, chip, address, data)] of the writes and [(cycle, chip)] of the updates received by
    the chips."""
    level = [[o & 1 for o, _ in pad] for pad in record.outputs]
    writes, updates = [], []
    for cycle in range(1, cycles):
        selected = [i for i in range(CHIPS) if not level[SELECT_N + i][cycle]]
        if level[WRITE_N][cycle] and not level[WRITE_N][cycle - 1]:
            address, data = (
                sum(level[first + i][cycle] << i for i in range(width)) for first, width in [(0, 8), (8, 16)]
            )
            # stable one cycle before WR falls, while it is low, and one cycle longer
            for pad in range(24):
                assert len({level[pad][c] for c in range(cycle - 3, cycle + 1)}) == 1
            assert [level[WRITE_N][c] for c in range(cycle - 3, cycle)] == [1, 0, 0]
            writes += [(cycle - 3, chip, address, data) for chip in selected]
        if level[UPDATE][cycle] and not level[UPDATE][cycle - 1]:
            assert level[UPDATE][cycle + 1]
            updates += [(cycle, chip) for chip in selected]
    return writes, updates


_EVENTS = st.lists(
    st.tuples(
        st.one_of(st.sampled_from([0x80, 0x81, 0x2D, 0x2F]), st.integers(0, 0x7F)),
        st.integers(0, 0xFFFF),
        st.integers(1, 8),
    ),
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(_EVENTS)
def test_selected_chips_receive_words_in_order(stream):
    events, busy, writes, updates = {}, [], [], []
    cycle, free, selected = 5, 0, 0
    for address, data, distance in stream:
        events[cycle] = (address, data, 0)
        if cycle < free:
            busy.append(cycle)
        else:
            free = cycle + CYCLES
            found = [i for i in range(CHIPS) if selected >> i & 1]
            if address < 0x80:
                writes += [(cycle, chip, address, data) for chip in found]
            elif address == 0x80:
                updates += [(cycle, chip) for chip in found]
            else:
                selected = data >> 1
        cycle += distance
    record = play(make(), events, cycle + 12)
    assert record.busy == busy
    assert chips(record, cycle + 11) == (writes, updates)


def test_reset_lasts_as_written_and_settles_later():
    record = play(make(), {5: (0x81, 0b01, 0), 15: (0x81, 0b10, 0)}, 30)
    assert [c for c, (o, _) in enumerate(record.outputs[RESET]) if o] == list(range(5, 15))
    assert [c for c, settled in enumerate(record.settled) if not settled] == [*range(5, 10), *range(15, 20)]


def test_probe_reports_frequency_after_update():
    dut = make()
    link = dut.channel.output
    seen = []

    def bench():
        for address, data in [(0x81, 0b010), (0x2D, 0x5678), (0x2F, 0x1234), (0x80, 0)]:
            yield link.stb.eq(1)
            yield link.address.eq(address)
            yield link.data.eq(data)
            yield
            yield link.stb.eq(0)
            for _ in range(CYCLES):
                yield
            seen.append(((yield dut.probes[0]), (yield dut.probes[1])))

    run_simulation(dut, bench())
    assert seen == [(0, 0)] * 3 + [(0x12345678, 0)]
