"""What the monitor shows of cards: the frequency at the output of an Urukul's chips, for every division of the clock,
with and without PLL; the voltage at the inputs of ADCs, for each gain."""

import math

import pytest

from kairos.coredevice.chips.measured import MEASURED
from kairos.coredevice.novogorny import SPANS

from .traffic import devices

SPI = 1
CPLD = ("urukul.CPLD", {"spi_device": "spi", "io_update_device": "update"})


def urukul(clk_div, refclk, driver, **arguments):
    card = {**CPLD[1], "clk_div": clk_div, "refclk": refclk}
    entries = {
        "spi": ("spi2.SPIMaster", {"channel": SPI}),
        "update": ("ttl.TTLOut", {"channel": 2}),
        "cpld": ("urukul.CPLD", card),
        "dds": (driver, {"chip_select": 6, "cpld_device": "cpld", **arguments}),
    }
    return devices(entries).get("dds")


@pytest.mark.parametrize("clk_div, divider", [(0, 4), (1, 1), (2, 2), (3, 4)])
@pytest.mark.parametrize("pll", [1, 0])
def test_monitor_shows_frequency_of_ad9910(clk_div, divider, pll):
    refclk = 25e6 * divider if pll else 250e6 * divider
    # Without PLL its multiplier does not matter, not even one that it cannot have.
    dds = urukul(clk_div, refclk, "ad9910.AD9910", pll_en=pll, pll_n=40 if pll else 1)
    clock = 1e9 if pll else 250e6
    assert dds.sysclk == clock
    [probe] = dds.monitored()
    assert (probe.channel, probe.probe, probe.unit) == (SPI, 2, "Hz")
    for hz in (0.0, 1.0, 80e6, 0.4 * clock, 0.6 * clock):
        word = round(hz / clock * 2**32)
        assert probe.quantity(word) == pytest.approx(hz, abs=clock / 2**32)
        assert int(dds.frequency_to_ftw(hz)) & 0xFFFFFFFF == word


@pytest.mark.parametrize("clk_div, divider", [(0, 1), (1, 1), (2, 2), (3, 4)])
@pytest.mark.parametrize("pll", [1, 0])
def test_monitor_shows_frequency_of_ad9912(clk_div, divider, pll):
    refclk = 100e6 * divider if pll else 900e6
    dds = urukul(clk_div, refclk, "ad9912.AD9912", pll_en=pll, pll_n=10 if pll else 7)
    clock = 1e9 if pll else refclk / divider
    assert dds.sysclk == clock
    [probe] = dds.monitored()
    for hz in (0.0, 80e6, 0.4 * clock):
        assert probe.quantity(round(hz / clock * 2**48)) == pytest.approx(hz, abs=1e-5)


def adc(driver, **arguments):
    """The probe of channel 3 of a card."""
    entries = {
        "spi": ("spi2.SPIMaster", {"channel": SPI}),
        "spi_pgia": ("spi2.SPIMaster", {"channel": 2}),
        "cnv": ("ttl.TTLOut", {"channel": 3}),
        "card": (driver, {"cnv_device": "cnv", **arguments}),
    }
    probes = devices(entries).get("card").monitored()
    assert [(each.place, each.channel, each.probe) for each in probes] == [(n, SPI, n) for n in range(8)]
    assert all(each.is_input and each.unit == "V" and math.isnan(each.quantity(0)) for each in probes)
    return probes[3].quantity


@pytest.mark.parametrize("revision, full", [("v2.1", 10.0), ("v2.2", 10.24)])
def test_monitor_shows_voltage_at_inputs_of_sampler(revision, full):
    volts = adc("sampler.Sampler", spi_adc_device="spi", spi_pgia_device="spi_pgia", hw_rev=revision)
    for gain in range(4):
        for code in (0, 1, 0x7FFF, -0x8000, -1):
            shown = volts(MEASURED.word(code=code, gain=gain, valid=1))
            assert shown == pytest.approx(code / 0x8000 * full / 10**gain, rel=1e-12)


def test_monitor_shows_voltage_at_inputs_of_novogorny_in_each_range():
    volts = adc("novogorny.Novogorny", spi_device="spi")
    for softspan, (span, bipolar) in enumerate(SPANS):
        for gain in range(4):
            for code in (0, 0x7FFF, 0x8000, 0xFFFF):
                signed = code - 0x10000 if bipolar and code >= 0x8000 else code
                shown = volts(MEASURED.word(code=code, gain=gain, softspan=softspan, valid=1))
                assert shown == pytest.approx(signed / 0x10000 * span * 5.0 / 10**gain, rel=1e-12)
