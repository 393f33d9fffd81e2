"""The writer against models of the synthesisers, which use only the pins."""

from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.pad import Pad
from kairos_gateware.servo.dds import UPDATE_CYCLES, DdsWriter
from kairos_gateware.servo.format import T_CYCLE
from kairos_gateware.testbenches.servo import UrukulModel
from kairos_gateware.testbenches.simulator import run_simulation


def run(registers, urukuls, profile=7, delays=(0, 0), chip_select=True):
    """Writes sets of registers ([[64 bits] * channels]), T_CYCLE cycles apart; returns the models."""
    buses = [
        (
            Pad("clk", "out", 0),
            Pad("cs", "out", 0) if chip_select else None,
            [Pad(f"mosi{i}", "out", 0) for i in range(4)],
        )
        for _ in range(urukuls)
    ]
    dut = DdsWriter(buses, profile)
    cards = [UrukulModel(chip_select) for _ in range(urukuls)]
    writes = []
    for values in registers:
        words = [(c, w, value >> 48 - 16 * w & 0xFFFF) for c, value in enumerate(values) for w in range(4)]
        # Filled while the previous one is sent, up to the cycle before the start
        writes += [None] * (T_CYCLE - len(words) - 1) + words + ["start"]
    writes += [None] * (T_CYCLE + 3)

    def bench():
        for delay, value in zip(dut.delays, delays, strict=False):
            yield delay.eq(value)
        for write in writes:
            yield dut.start.eq(write == "start")
            yield dut.we.eq(isinstance(write, tuple))
            if isinstance(write, tuple):
                channel, word, data = write
                yield dut.channel.eq(channel)
                yield dut.word.eq(word)
                yield dut.data.eq(data)
            yield
            for card, (clk, cs, mosi), update in zip(cards, buses, dut.updates, strict=True):
                levels = []
                for pad in mosi:
                    levels.append((yield pad.o) & 1)
                selected = (yield cs.o) & 1 if cs is not None else None
                card.step((yield clk.o) & 1, selected, levels, (yield update))
        assert not (yield dut.busy)

    run_simulation(dut, bench())
    return cards


REGISTER = st.integers(0, 2**62 - 1)


@settings(max_examples=15, deadline=None)
@given(
    st.data(), st.integers(1, 2), st.integers(0, 7), st.lists(st.integers(0, 7), min_size=2, max_size=2), st.booleans()
)
def test_profile_registers_are_written_and_updated_on_time(data, urukuls, profile, delays, chip_select):
    sets = data.draw(st.lists(st.lists(REGISTER, min_size=4 * urukuls, max_size=4 * urukuls), min_size=1, max_size=3))
    cards = run(sets, urukuls, profile, delays, chip_select)
    for i, card in enumerate(cards):
        expected = [[{0x0E + profile: value} for value in values[4 * i : 4 * i + 4]] for values in sets]
        assert [registers for _, registers in card.updates] == expected
        # The chips are selected in the cycle after the start, and sample the first bit one later
        first = T_CYCLE - 1
        begin = first + (1 if chip_select else 2)
        assert card.starts == [begin + T_CYCLE * n for n in range(len(sets))]
        times = [8 * (first + UPDATE_CYCLES + T_CYCLE * n) + delays[i] for n in range(len(sets))]
        assert [time for time, _ in card.updates] == times


def test_dds_write_fits_into_the_servo_cycle():
    assert UPDATE_CYCLES == T_CYCLE == 2 * (8 + 64) + 2
