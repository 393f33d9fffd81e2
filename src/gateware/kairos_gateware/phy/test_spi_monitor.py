"""Probes of SPI buses: messages as the chips' drivers send them, and others, which must have no
effect."""

import tomllib
from pathlib import Path

import pytest
from migen import *

from kairos_gateware.moninj.moninj import MonitorInjector
from kairos_gateware.phy import spi_monitor as facts
from kairos_gateware.phy.kind import Context
from kairos_gateware.phy.spi import KINDS
from kairos_gateware.testbenches.simulator import run_simulation
from kairos_gateware.variant import MONITORED, ChannelSpec

NUMBER = 3
END = 2


def bus(chip):
    spec = ChannelSpec("spi", "spi_master", {"cs_width": 3, "monitor": MONITORED.index(chip)})
    return KINDS[0].make(KINDS[0].context(NUMBER, spec, {}))


def probed(chip, messages, probes=range(8)):
    """The monitor's values after these messages: lists of (chip select, length, data)."""
    phy = bus(chip)
    top = Module()
    top.submodules.phy = phy
    top.submodules.monitor = monitor = MonitorInjector({NUMBER: phy})
    link = phy.channel.output
    found = {}

    def event(address, data, cycles):
        yield link.stb.eq(1)
        yield link.address.eq(address)
        yield link.data.eq(data)
        yield
        yield link.stb.eq(0)
        for _ in range(cycles):
            yield

    def play():
        for message in messages:
            for place, (cs, length, data) in enumerate(message):
                flags = 8 | (END if place == len(message) - 1 else 0)
                yield from event(1, flags | length - 1 << 8 | cs << 24, 1)
                yield from event(0, data << 32 - length, (length + 1) * 2 + 1)
        yield monitor.channel.eq(NUMBER)
        for probe in probes:
            yield monitor.probe.eq(probe)
            yield monitor.update.eq(1)
            yield
            yield monitor.update.eq(0)
            yield
            yield
            found[probe] = yield monitor.value

    run_simulation(top, play())
    return [found[probe] for probe in probes]


def profile(cs, number, ftw):
    return [(cs, 8, 0x0E + number), (cs, 32, 0x3FFF_1234), (cs, 32, ftw)]


def test_ad9910_probes_report_frequencies_of_single_tone_profiles():
    messages = [
        profile(4, 7, 0x1111_2222),
        profile(6, 0, 0x3333_4444),
        [(7, 8, 0x07), (7, 32, 0xFFFF_FFFF)],
        # A read, phase, amplitude, RAM, another chip select, attenuators
        [(4, 8, 0x80 | 0x0E), (4, 32, 1), (4, 32, 2)],
        [(4, 24, 0x08_1234)],
        [(5, 8, 0x09), (5, 32, 7)],
        [(5, 8, 0x16), (5, 32, 8), (5, 32, 9)],
        [(2, 32, 0x0707_0707)],
    ]
    assert probed("ad9910", messages) == [0x1111_2222, 0, 0x3333_4444, 0xFFFF_FFFF, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "configuration", [[(1, 24, 0b0101 << 13)], [(1, 24, 0b0101 << 36 - 28), (1, 28, 0)]], ids=["rev8", "rev9"]
)
def test_message_to_several_chips_changes_all_unmasked_ones(configuration):
    messages = [profile(3, 1, 5), configuration, profile(3, 1, 6), profile(4, 1, 7)]
    assert probed("ad9910", messages, range(4)) == [7, 6, 5, 6]


def test_ad9912_probes_report_complete_frequency_words():
    ftw = 0xABCD_1234_5678
    tone = [(5, 16, 3 << 13 | 0x1AD), (5, 32, 0x1FFF << 16 | ftw >> 32), (5, 32, ftw & 0xFFFF_FFFF)]
    read = [(4, 16, 1 << 15 | 3 << 13 | 0x1AD), *[(4, 32, 1)] * 2]
    short = [(4, 16, 1 << 13 | 0x1AD), (4, 16, 5)]
    assert probed("ad9912", [tone, read, short]) == [0, ftw, 0, 0, 0, 0, 0, 0]


def test_ad53xx_probes_report_codes_of_single_outputs():
    def word(mode, target, value, cs=1, length=24):
        return [(cs, length, mode << 22 | target << 16 | value)]

    messages = [
        word(3, 8, 0x8001),
        word(3, 8 + 39, 0x1234),
        word(3, 8 + 3, 1),
        word(3, 8 + 3, 2),
        # Offset, gain, special functions, several channels at once, the LEDs
        *[word(mode, 8 + 1, 0xFFFF) for mode in range(3)],
        *[word(3, target, 0xFFFF) for target in (0, 7, 48, 63)],
        [(2, 8, 0xFF)],
        word(3, 8 + 2, 0xFFFF, cs=2),
    ]
    expected = {0: 0x8001, 3: 2, 39: 0x1234}
    probes = [*range(42), 63, 64, 67, 255]
    assert probed("ad53xx", messages, probes) == [expected.get(probe, 0) for probe in probes]


def test_a_bus_without_a_monitor_has_no_probes():
    assert not hasattr(bus("none"), "probes") and not hasattr(bus("none"), "probe_port")
    with pytest.raises(ValueError, match="spi: the monitor of an SPI master is 0 to 5, not 6"):
        KINDS[0].context(0, ChannelSpec("spi", "spi_master", {"monitor": 6}), {})
    assert isinstance(KINDS[0].context(0, ChannelSpec("spi", "spi_master"), {}), Context)


def table(chip):
    root = next(path for path in Path(__file__).parents if (path / "src" / "contracts").is_dir())
    return tomllib.loads((root / "src" / "contracts" / "chips" / f"{chip}.toml").read_text())


def test_probe_numbers_are_those_of_the_chips():
    registers = {
        (chip, r["name"]): r for chip in ("ad9910", "ad9912", "ad53xx", "urukul") for r in table(chip)["register"]
    }

    def bits(chip, register, field):
        return next(f for f in registers[chip, register]["fields"] if f["name"] == field)["bits"]

    assert registers["ad9910", "FTW"]["address"] == facts.AD9910_FTW
    profiles = registers["ad9910", "PROFILE"]
    assert range(profiles["address"], profiles["address"] + profiles["count"]) == facts.AD9910_PROFILES
    assert bits("ad9910", "PROFILE", "ftw") == "31:0"
    assert bits("ad9912", "INSTRUCTION", "length") == "14:13"
    assert bits("ad53xx", "WORD", "mode") == f"23:{facts.AD53XX_MODE_AT}"
    assert bits("ad53xx", "WORD", "target") == f"21:{facts.AD53XX_TARGET_AT}"
    limits = table("ad53xx")["constants"]
    assert (limits["FIRST_CHANNEL"]["value"], limits["ALL_CHANNELS"]["value"]) == (
        facts.AD53XX_FIRST,
        facts.AD53XX_CHANNELS,
    )
    assert {bits("urukul", name, "mask_nu") for chip, name in registers if chip == "urukul" and "CFG" in name} == {
        str(facts.MASK_8),
        str(facts.MASK_9),
    }
