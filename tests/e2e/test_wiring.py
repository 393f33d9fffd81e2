"""Wiring faults other than those of an AD9910 and a Mirny: each is reported in a way that helps its
user."""

import re
from pathlib import Path

import pytest

from kairos.devices import DeviceDB
from kairos.testing import Bench
from tests.support.databases import entry, written

EXPERIMENTS = Path(__file__).with_name("experiments") / "wiring.py"
UNRECEIVED = "a message without a chip select: no chip receives it; check the chip select (cs)"


@pytest.fixture(scope="module")
def database(lab, tmp_path_factory):
    """The laboratory with AD9912 on its Urukul, without a clock, and a Zotino."""
    folder = tmp_path_factory.mktemp("wiring")
    entries = DeviceDB.load(lab).entries
    cpld = entries.pop("urukul0_cpld")
    del cpld["arguments"]["sync_device"]
    entries["light"] = cpld

    entries["beam"] = entry("ad9912", "AD9912", chip_select=6, cpld_device="light", pll_n=8)
    # The chip of channel 1, but the switch of channel 2
    switch = "ttl_urukul0_sw2"
    entries["crossed"] = entry("ad9912", "AD9912", chip_select=5, cpld_device="light", sw_device=switch, pll_n=8)
    entries["zotino0"] = entry("zotino", "Zotino", spi_device="dio_spi0", ldac_device="ttl16")
    for number in range(4):
        del entries[f"urukul0_ch{number}"]
    file = folder / "bench.toml"
    file.write_text("[urukul.urukul0]\nmmcx_hz = 0\nsma_hz = 0\noscillator_hz = 0\n")
    return written(entries, folder)


@pytest.fixture
def bench(database):
    with Bench(database) as made:
        yield made


@pytest.mark.parametrize("name, card", [("Dac", "dio_spi0"), ("Adc", "sampler0")])
def test_wrong_chip_select_is_reported(bench, name, card):
    bench.run(EXPERIMENTS, name)
    assert f"{card}: {UNRECEIVED}" in bench.warnings


def test_synthesiser_without_clock_or_update_is_reported(bench):
    bench.run(EXPERIMENTS, "Synthesiser")
    warnings = bench.warnings
    assert any(
        text.startswith("urukul0: ch2: its PLL is on but the card has no clock: check clk_sel") for text in warnings
    ), warnings
    waits = next(text for text in warnings if "no update (IO_UPDATE) followed" in text)
    assert waits.startswith("urukul0: ch2: FREQUENCY, TONE written but not applied")


def warning_time(done):
    """Return the texts of a run's warnings and the comments of the experiment's lines that they
    name."""
    source = EXPERIMENTS.read_text().splitlines()
    found = [re.fullmatch(r"bench: at [\d.]+ ms, wiring.py:(\d+): (.*)", line) for line in done.stderr.splitlines()]
    return [(line[2], source[int(line[1]) - 1].partition("  # ")[2]) for line in found if line]


def test_unreceived_and_truncated_messages_to_ad9912_are_reported(kairos, database):
    done = kairos("run", EXPERIMENTS, "-c", "Selects", "--no-table", device_db=database)
    assert done.returncode == 0, done.stderr
    assert warning_time(done) == [
        ("urukul0: a message without a chip select (cs is 0): no chip receives it", "no chip"),
        ("urukul0: ch1: a message ended before its last byte: check the chip select and the length", "cut"),
    ]


def test_chip_driven_with_switch_of_another_is_reported(bench):
    bench.run(EXPERIMENTS, "Crossed")
    text = "ch2: its switch was closed and nothing sent to its chip, while ch1 was set behind an open switch"
    assert f"urukul0: {text}: check chip_select and sw_device" in bench.warnings, bench.warnings


def test_ad9912_driver_for_another_chip_is_reported(database, tmp_path):
    card = tmp_path / "bench.toml"
    card.write_text("[urukul.urukul0]\ndds = 'ad9910'\n")
    with (
        Bench(database, card) as bench,
        pytest.raises(ValueError, match="Urukul AD9912 product id mismatch"),
    ):
        bench.run(EXPERIMENTS, "Synthesiser")
