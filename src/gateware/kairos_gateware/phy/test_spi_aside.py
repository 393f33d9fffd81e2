"""Transfers requested through registers, beside the events of an experiment at the same SPI
master."""

from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.pad import Pad
from kairos_gateware.phy.spi import SpiMaster
from kairos_gateware.phy.spi_aside import SpiAside, SpiRegisters
from kairos_gateware.phy.test_spi import CLK, CS, END, INPUT, MOSI, config, duration, levels
from kairos_gateware.testbenches.phy import play

MISO = 2
WAIT = 60
CYCLES = 400
LENGTH, DIV = 8, 2
"""Of the requested transfers."""


def master():
    pads = [Pad(name, "out", 0) for name in ["clk", "mosi"]]
    return SpiMaster(0, *pads, Pad("miso", "in", 0), [Pad(f"cs{i}", "out", 0) for i in range(3)])


class Asking(Module):
    """Requests a transfer in these cycles: {cycle: (config, data)}."""

    def __init__(self, wanted):
        self.submodules.aside = aside = SpiAside(master(), WAIT)
        self.shown = Signal(34)
        now = Signal(max=CYCLES + 8)
        self.sync += now.eq(now + 1)
        self.comb += Case(
            now,
            {cycle: [aside.start.eq(1), aside.config.eq(c), aside.data.eq(d)] for cycle, (c, d) in wanted.items()},
        )


def asked(wanted, events, levels=None, cycles=CYCLES):
    dut = Asking(wanted)
    return play(dut.aside, events, cycles, levels, dut), dut


def sent(record, start=0):
    """The words received by a chip, as (number of the chip select, bits): rising clocks while one
    is low."""
    words, before = [], 0
    selects = [levels(record, CS + i) for i in range(3)]
    for clock, mosi, *lines in list(zip(levels(record, CLK), levels(record, MOSI), *selects, strict=True))[start:]:
        chips = [i for i, level in enumerate(lines) if not level]
        if not chips:
            words.append(None)
        elif clock and not before:
            if words[-1:] in ([], [None]):
                words.append((chips[0], ""))
            words[-1] = (words[-1][0], words[-1][1] + str(mosi))
        before = clock
    return [word for word in words if word]


def word(flags=0, length=LENGTH, div=DIV, cs=1):
    return config(flags, length, div, cs)[1]


EXPERIMENT = {20: config(END, 16, 3, 2), 30: (0, 0xA5C3 << 16, 0)}
"""A transfer of 16 bits to the second chip."""


def test_aside_transfer_restores_the_configuration_of_the_experiment():
    record, _ = asked({60 + duration(16, 3): (word(cs=1), 0x5A << 24)}, EXPERIMENT | {250: (0, 0x1234 << 16, 0)})
    assert sent(record) == [(1, f"{0xA5C3:016b}"), (0, f"{0x5A:08b}"), (1, f"{0x1234:016b}")]
    assert record.busy == [] and record.settled[-1]


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 150))
def test_pins_change_only_if_experiment_and_aside_transfer_meet(cycle):
    """A transfer that waits begins after the experiment's; an event during a transfer is
    rejected."""
    alone, _ = asked({}, EXPERIMENT)
    record, _ = asked({cycle: (word(cs=1), 0x5A << 24)}, EXPERIMENT)
    words = sent(record)
    assert (0, f"{0x5A:08b}") in words
    if not record.busy:
        assert sent(alone) == [w for w in words if w[0] == 1]
        end = 30 + duration(16, 3)
        if (0, f"{0x5A:08b}") == words[-1] and cycle > 30:
            assert [levels(alone, pad)[:end] for pad in (CLK, MOSI, CS + 1)] == [
                levels(record, pad)[:end] for pad in (CLK, MOSI, CS + 1)
            ]


def test_data_received_aside_is_hidden_from_the_experiment():
    high = {(MISO, 0): 255}
    record, dut = asked({40: (word(INPUT), 0)}, {20: config(END | INPUT, 4, 2)}, high)
    assert record.inputs == []
    record, _ = asked({40: (word(INPUT), 0)}, {20: config(END | INPUT, 4, 2), 200: (0, 0, 0)}, high)
    assert [data for _, _, data in record.inputs] == [0b1111]


def test_aside_transfer_waits_limited_time_for_held_chip_select():
    held = {20: config(0, 8, 2, 2), 30: (0, 1 << 24, 0)}
    record, _ = asked({60: (word(), 0x5A << 24)}, held | {80: config(END, 8, 2, 2), 85: (0, 2 << 24, 0)})
    assert sent(record) == [(1, f"{1:08b}{2:08b}"), (0, f"{0x5A:08b}")]
    record, _ = asked({60: (word(), 0x5A << 24)}, held)
    assert sent(record) == [(1, f"{1:08b}")] and record.settled[-1]


def test_registers_start_a_transfer_and_report_its_state():
    asides = {number: SpiAside(master(), WAIT) for number in (3, 7)}

    class Top(Module):
        def __init__(self):
            self.submodules += list(asides.values())
            self.submodules.registers = SpiRegisters(asides)

    top = Top()
    registers = top.registers
    seen = []

    def bench():
        for channel in (7, 5):
            yield registers.channel.storage.eq(channel)
            yield registers.config.storage.eq(word(INPUT, 4))
            yield asides[7].phy.pads[MISO].i.eq(255)
            yield registers.data.re.eq(1)
            yield
            yield registers.data.re.eq(0)
            yield
            seen.append((yield registers.state.status))
            for _ in range(60):
                yield
            seen.append(((yield registers.state.status), (yield registers.value.status)))

    for bank in [registers.channel, registers.config, registers.data]:
        bank.finalize(32, "big")
    run_simulation(top, bench())
    assert seen == [1, (0, 0b1111), 4, (4, 0)]
