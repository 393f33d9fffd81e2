"""A Kasli-SoC of hardware revision 1.2: its I/O expander switches the power of the cards, which the firmware sets while
it boots. Without it a card does not answer."""

import pytest

from kairos.devices import DeviceDB
from tests.support.chain import Chain
from tests.support.databases import entry, written


@pytest.fixture
def database(lab, tmp_path):
    """The laboratory, whose gateware is described as v1.2, with a Mirny at the bare SPI port."""
    entries = DeviceDB.load(lab).entries
    entries["mirny"] = entry("mirny", "Mirny", spi_device="dio_spi0", clk_sel="sma")
    return written(entries, tmp_path)


def test_cards_have_power_once_the_firmware_has_booted(database):
    with Chain(database) as chain:
        chain(chain.get("mirny").init)
        assert chain.bench.part("mirny")["control"] == 2 << 4, "the SMA input of revision 1.1"


def test_card_without_power_does_not_answer(database):
    with Chain(database, expanders=0) as chain:
        with pytest.raises(ValueError, match="Hardware revision not supported"):
            chain(chain.get("mirny").init)
        assert chain.bench.part("mirny")["control"] == 0
