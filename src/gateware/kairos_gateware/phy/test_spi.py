"""SPI master against a slave in plain Python, which uses only the pins: all modes, lengths and
dividers."""

from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.pad import Pad
from kairos_gateware.phy.spi import SpiMaster
from kairos_gateware.testbenches.phy import play

OFFLINE, END, INPUT, CS_POLARITY, CLK_POLARITY, CLK_PHASE, LSB_FIRST, HALF_DUPLEX = (1 << i for i in range(8))
CLK, MOSI, MISO, CS = range(4)


def make(cs=3):
    pads = [Pad(name, "out", 0) for name in ["clk", "mosi"]]
    return SpiMaster(0, *pads, Pad("miso", "in", 0), [Pad(f"cs{i}", "out", 0) for i in range(cs)])


def config(flags, length, div, cs=1):
    """As the driver's `set_config_mu`."""
    return 1, flags | length - 1 << 8 | div - 2 << 16 | cs << 24, 0


def duration(length, div):
    """As the driver's `xfer_duration_mu`, in cycles."""
    return (length + 1) * div + 1


def levels(record, pad):
    return [o & 1 for o, _ in record.outputs[pad]]


def edges(record, start, stop, phase, polarity):
    """Cycles of the clock's sampling edges; they alternate with the others, and the clock is idle
    outside."""
    active = [level ^ bool(polarity) for level in levels(record, CLK)]
    changes = [c for c in range(start, stop) if active[c] != active[c - 1]]
    assert len(changes) % 2 == 0 and not active[start - 1] and not active[stop - 1]
    return changes[bool(phase) :: 2]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 255).map(lambda flags: flags & ~(OFFLINE | HALF_DUPLEX)),
    st.integers(1, 32),
    st.integers(2, 9),
    st.integers(0, 7),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
)
def test_transfer_of_any_mode_and_length_reaches_the_slave(flags, length, div, cs, data, answer):
    start, stop = 10, 10 + duration(length, div)
    answer &= (1 << length) - 1
    bits = [answer >> (i if flags & LSB_FIRST else length - 1 - i) & 1 for i in range(length)]
    events = {5: config(flags, length, div, cs), start: (0, data, 0)}
    # A first run determines when the slave must put which bit on MISO: it holds it until the master
    # has sampled it
    clock = edges(play(make(), events, stop + 5), start, stop, flags & CLK_PHASE, flags & CLK_POLARITY)
    miso = {(MISO, after + 1): 255 * bit for after, bit in zip([start - 1, *clock], bits, strict=False)}
    record = play(make(), events, stop + 5, miso)

    out = [data >> (i if flags & LSB_FIRST else 31 - i) & 1 for i in range(length)]
    clock = edges(record, start, stop, flags & CLK_PHASE, flags & CLK_POLARITY)
    assert [levels(record, MOSI)[cycle] for cycle in clock] == out
    # valid from the other edge on, half a period before
    assert [levels(record, MOSI)[cycle - div // 2] for cycle in clock] == out
    assert [b - a for a, b in zip(clock, clock[1:], strict=False)] == [div] * (length - 1)
    assert clock[-1] == start + length * div - (0 if flags & CLK_PHASE else div // 2)
    idle = 0 if flags & CS_POLARITY else 7
    selects = [sum(levels(record, CS + i)[cycle] << i for i in range(3)) for cycle in range(6, stop + 3)]
    end = stop - 1 if flags & END else stop + 3
    assert selects == [idle] * (start - 6) + [idle ^ cs] * (end - start) + [idle] * (stop + 3 - end)
    if flags & INPUT:
        value = answer << (32 - length) if flags & LSB_FIRST else answer
        assert record.inputs == [(clock[-1], 0, value)]
    else:
        assert record.inputs == []
    assert [cycle for cycle, settled in enumerate(record.settled) if not settled] == list(range(start, stop))
    assert not record.busy


def test_second_transfer_is_busy_until_the_first_has_ended():
    n = duration(8, 4)
    first = {5: config(END, 8, 4), 10: (0, 0x5A << 24, 0)}
    assert play(make(), first | {10 + n - 1: (0, 0, 0)}, 60).busy == [10 + n - 1]
    assert play(make(), first | {10 + n - 1: config(END, 8, 4)}, 60).busy == [10 + n - 1]
    record = play(make(), first | {10 + n: (0, 0xA5 << 24, 0)}, 100)
    assert not record.busy
    assert len(edges(record, 10, 10 + 2 * n, 0, 0)) == 16
    # one cycle between the transfers in which the chip is not selected
    assert [c for c in range(10, 10 + 2 * n) if levels(record, CS)[c]] == [10 + n - 1, 10 + 2 * n - 1]


def test_long_transfer_without_end_keeps_the_chip_selected():
    """As for the registers of an AD9910: eight bits and 32 bits make one transfer."""
    n = duration(8, 2)
    events = {5: config(CS_POLARITY, 8, 2, 4), 10: (0, 0x0E << 24, 0), 10 + n: config(CS_POLARITY | END, 32, 2, 4)}
    record = play(make(), events | {11 + n: (0, 0xDEADBEEF, 0)}, 120)
    stop = 11 + n + duration(32, 2)
    seen = [levels(record, MOSI)[cycle] for cycle in edges(record, 10, stop, 0, 0)]
    assert int("".join(map(str, seen)), 2) == 0x0EDEADBEEF
    assert levels(record, CS + 2)[10 : stop - 1] == [1] * (stop - 11) and not levels(record, CS + 2)[stop - 1]


def test_pads_are_released_until_configured():
    record = play(make(), {5: config(END, 8, 4), 9: config(OFFLINE, 8, 4)}, 14)
    for pad in [CLK, MOSI, CS]:
        assert [oe for _, oe in record.outputs[pad]] == [0] * 5 + [1] * 4 + [0] * 5


def test_half_duplex_answer_is_read_on_mosi():
    events = {5: config(END | INPUT | HALF_DUPLEX, 4, 2), 10: (0, 0, 0)}
    record = play(make(), events, 40, {(MOSI, 9): 255, (MOSI, 12): 0, (MOSI, 14): 255})
    assert [data for _, _, data in record.inputs] == [0b1011]
    assert record.outputs[MOSI][15][1] == 0 and record.outputs[CLK][15][1] == 1
