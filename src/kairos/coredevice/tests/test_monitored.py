"""What the monitor shows of an Urukul's channels: the frequency at the chip's output, for every division of the
clock, with and without PLL."""

import pytest

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
