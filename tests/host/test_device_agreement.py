"""Whether a device database fits the gateware: the comparison of its entries with a descriptor."""

import pytest

from kairos.contracts.descriptor import ChannelKind
from kairos.devices.agreement import destinations, disagreements
from kairos.devices.described import database

CHANNELS = [
    (0, ChannelKind.TTL_INOUT, "ttl0", []),
    (1, ChannelKind.TTL_OUT, "ttl1", []),
    (2, ChannelKind.SPI_MASTER, "urukul0_spi", []),
    (3, ChannelKind.EDGE_COUNTER, "counter", [("gateware_width", 31)]),
    (4, ChannelKind.SHUTTLER_SPLINE, "tone", [("kind", 1)]),
    (5, ChannelKind.LOG, "log", []),
    (6, 200, "of another gateware", []),
    (8, ChannelKind.AD9914, "ddsbus0", [("chips", 2)]),
]
CLOCK = (125_000_000, 3)


def entry(module, cls, **arguments):
    return {"type": "local", "module": f"artiq.coredevice.{module}", "class": cls, "arguments": arguments}


def test_database_generated_from_the_descriptor_agrees():
    entries = database("device", CLOCK, [(0, CHANNELS), (3, CHANNELS)])
    assert disagreements(entries, CLOCK, {0: CHANNELS, 3: CHANNELS}) == []
    assert destinations(entries) == {0, 3}


@pytest.mark.parametrize(
    "described, line",
    [
        (entry("ttl", "TTLOut", channel=0), "a TTLOut at channel 0x000000, where the gateware has ttl0 (TTLInOut)"),
        (entry("ttl", "TTLInOut", channel=2), "where the gateware has urukul0_spi (SPIMaster)"),
        (entry("spi2", "SPIMaster", channel=1), "where the gateware has ttl1 (TTLOut)"),
        (entry("shuttler", "DCBias", channel=4), "where the gateware has tone (DDS)"),
        (entry("ttl", "TTLOut", channel=5), "where the gateware has log (no driver)"),
        (entry("ttl", "TTLOut", channel=6), "where the gateware has of another gateware (no driver)"),
        (entry("phaser", "Phaser", channel_base=3), "where the gateware has counter (EdgeCounter)"),
        (entry("ttl", "TTLOut", channel=7), "x is a TTLOut at channel 0x000007, which the gateware does not have"),
        (entry("ad9914", "AD9914", bus_channel=2, channel=8), "where the gateware has urukul0_spi (SPIMaster)"),
        (entry("ad9914", "AD9914", bus_channel=9, channel=1), "x is an AD9914 at channel 0x000009, which the gatew"),
        (entry("ad9914", "AD9914", bus_channel=8, channel=1), None),
        (entry("ttl", "TTLOut", channel=-1), None),
        (entry("ttl", "TTLOut", channel=0x30000), None),
        (entry("ttl", "TTLOut", channel="1"), None),
        (entry("ad9910", "AD9910", channel=99), None),
        ({"type": "controller", "host": "::1"}, None),
        ({"arguments": 5}, None),
        ("ttl1", None),
    ],
)
def test_entry_is_compared_with_its_channel(described, line):
    lines = disagreements({"x": described}, CLOCK, {0: CHANNELS})
    assert len(lines) == (line is not None) and all(line in found for found in lines)


def test_period_is_compared_with_the_clock():
    assert disagreements({"core": entry("core", "Core", ref_period=1e-9)}, CLOCK, {}) == []
    assert disagreements({"core": entry("core", "Core", ref_period=1e-9)}, (100_000_000, 3), {}) == [
        "core has a ref_period of 1e-09 s, and the clock of the gateware makes it 1.25e-09 s"
    ]
    assert disagreements({"core": entry("core", "Core", ref_period=1e-9)}, None, {}) == []
