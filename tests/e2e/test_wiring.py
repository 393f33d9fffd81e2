"""Faults of wiring beyond those of an AD9910 and a Mirny: each is told as its user needs it."""

from pathlib import Path

import pytest

from kairos.devices import DeviceDB
from kairos.testing import Bench
from tests.support.databases import written

EXPERIMENTS = Path(__file__).with_name("experiments") / "wiring.py"
UNHEARD = "a message without a chip select: nobody hears it: look at the chip select (cs)"


@pytest.fixture(scope="module")
def bench(lab, tmp_path_factory):
    """The laboratory with AD9912 on its Urukul, to which no clock leads, and a Zotino."""
    folder = tmp_path_factory.mktemp("wiring")
    entries = DeviceDB.load(lab).entries
    cpld = entries.pop("urukul0_cpld")
    del cpld["arguments"]["sync_device"]
    entries["light"] = cpld

    def entry(module, cls, **arguments):
        return {"type": "local", "module": f"artiq.coredevice.{module}", "class": cls, "arguments": arguments}

    entries["beam"] = entry("ad9912", "AD9912", chip_select=6, cpld_device="light", pll_n=8)
    entries["zotino0"] = entry("zotino", "Zotino", spi_device="dio_spi0", ldac_device="ttl16")
    for number in range(4):
        del entries[f"urukul0_ch{number}"]
    file = folder / "bench.toml"
    file.write_text("[urukul.urukul0]\nmmcx_hz = 0\nsma_hz = 0\noscillator_hz = 0\n")
    with Bench(written(entries, folder), file) as made:
        yield made


@pytest.mark.parametrize("name, card", [("Dac", "dio_spi0"), ("Adc", "sampler0")])
def test_a_wrong_chip_select(bench, name, card):
    bench.run(EXPERIMENTS, name)
    assert f"{card}: {UNHEARD}" in bench.warnings


def test_a_synthesiser_without_clock_and_update(bench):
    bench.run(EXPERIMENTS, "Synthesiser")
    told = bench.warnings
    assert any(
        text.startswith("urukul0: ch2: its PLL is on but the card has no clock: look at clk_sel") for text in told
    ), told
    waits = next(text for text in told if "no update (IO_UPDATE) came behind it" in text)
    assert waits.startswith("urukul0: ch2: FREQUENCY, TONE written and not taken over")
