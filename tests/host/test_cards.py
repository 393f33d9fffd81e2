"""Which cards a device database has, as the emulator's bench is told."""

from kairos.emulator import cards
from kairos.emulator.cards import lacking


def entry(driver, **arguments):
    return {"type": "local", "module": "artiq.coredevice.x", "class": driver, "arguments": arguments}


DATABASE = {
    "core": entry("Core", host="emulator://lab"),
    "spi": entry("SPIMaster", channel=20),
    "update": entry("TTLOut", channel=22),
    "switch": entry("TTLOut", channel=25),
    "cpld": entry("CPLD", spi_device="spi", io_update_device="update", refclk=10e6, clk_sel=1, proto_rev=8),
    "card": "cpld",
    "beam": entry("AD9912", chip_select=6, cpld_device="card", sw_device="switch"),
    "dds_729": "beam",
    "phaser0": entry("Phaser", channel_base=40),
}


def test_a_card_is_where_its_drivers_say():
    assert cards(DATABASE) == [
        {
            "kind": "urukul",
            "device": "cpld",
            "channels": {"spi": 20, "io_update": 22, "sw2": 25},
            "settings": {"dds": "ad9912", "proto_rev": 8, "sma_hz": 10e6},
        }
    ]
    assert lacking(DATABASE) == {"phaser0": "Phaser"}


def test_what_is_wrong_with_a_database_is_for_its_drivers_to_say():
    strange = {
        "a": "b",
        "b": "a",
        "c": 5,
        "d": {"class": "CPLD"},
        "e": entry("CPLD", spi_device="a", proto_rev=7, refclk="fast", clk_sel=9),
        "f": entry("AD9910", chip_select="x", cpld_device="e"),
    }
    assert [card["settings"] for card in cards(strange)] == [{}, {}]
    assert [card["channels"] for card in cards(strange)] == [{}, {}]
