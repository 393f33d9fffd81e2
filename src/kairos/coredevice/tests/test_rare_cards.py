"""Drivers of cards that few laboratories have: a device database with them loads."""

import pytest

from kairos.errors import UsageError

from .traffic import devices

ENTRIES = {
    "spi": ("spi2.SPIMaster", {"channel": 1}),
    "phaser": ("phaser.Phaser", {"channel_base": 2, "dac": {"interpolation": 2}, "trf0": {"nint": 25}, "trf1": {}}),
    "miqro": ("phaser.Phaser", {"channel_base": 8, "gw_rev": 2}),
    "dac": ("dac34h84.DAC34H84", {"spi_device": "spi", "input_sample_rate": 250e6}),
    "lo": ("trf372017.TRF372017", {"spi_device": "spi", "refclk": 125e6, "use_external_lo": False}),
    "att": ("hmc542b.HMC542B", {"spi_device": "spi"}),
    "mtdds": ("phaser.PhaserMTDDS", {"channel": 12, "sysclk": 125e6, "dac_device": "dac"}),
    "mtdds_ch0": (
        "phaser.PhaserMTDDSChannel",
        {
            "channel_index": 0,
            "tones": 2,
            "fpga_device": "mtdds",
            "dac_device": "dac",
            "att_device": "att",
            "dds_device_prefix": "mtdds_dds",
            "iquc_device": "lo",
        },
    ),
    "mtdds_dds0": ("phaser.PhaserDDS", {"channel": 13, "bandwidth": 250e6}),
    "mtdds_dds1": ("phaser.PhaserDDS", {"channel": 14, "bandwidth": 250e6}),
    "shuttler_adc": ("shuttler.ADC", {"spi_device": "spi"}),
    "fastino": ("fastino.Fastino", {"channel": 15}),
    "camera": ("cxp_grabber.CXPGrabber", {"channel": 16}),
    "cpld": ("urukul.CPLD", {"spi_device": "spi"}),
    "shared": ("suservo.SharedDDS", {"cpld_device": "cpld", "pll_n": 32}),
    "servo": (
        "suservo.SUServo",
        {"channel": 34, "pgia_device": "spi", "cpld_devices": ["cpld"], "dds_devices": ["shared"]},
    ),
    "servo0": ("suservo.Channel", {"channel": 30, "servo_device": "servo"}),
    "songbird": ("songbird.Songbird", {"spi_device": "spi", "channel": 20}),
    "songbird_dds": ("songbird.DDS", {"channel": 23, "config_device": "songbird", "dds_no": 0}),
}


@pytest.fixture(scope="module")
def manager():
    return devices(ENTRIES)


@pytest.mark.parametrize("name", ENTRIES)
def test_driver_of_a_rare_card_is_created(manager, name):
    module, cls = ENTRIES[name][0].split(".")
    device = manager.get(name)
    assert type(device).__name__ == cls and type(device).__module__.startswith(f"kairos.coredevice.{module}")
    if "channel" in ENTRIES[name][1]:
        channels = type(device).get_rtio_channels(**ENTRIES[name][1]) if hasattr(device, "get_rtio_channels") else []
        assert all(number >= ENTRIES[name][1]["channel"] for number, _ in channels)


def test_modulator_registers_are_made_from_settings():
    from artiq.coredevice.trf372017 import TRF372017

    # The address of register n is 8 + n, in the lowest five bits.
    plain = TRF372017().get_mmap()
    assert [word & 0x1F for word in plain] == [8 + n for n in range(1, 8)]
    assert [word & 0xFFFFFFFF for word in plain[:3]] == [0x70100049, 0x082002EA, 0x0000000B]
    # 125 MHz / 2 * 25 * 2 (divider before the prescaler), through a divider by 4: 781.25 MHz
    words = TRF372017(
        {"rdiv": 2, "nint": 25, "pll_div_sel": 1, "prsc_sel": "P4_5", "icp": 0, "tx_div_sel": 2}
    ).get_mmap()
    assert words[0] == 2 << 5 | 1 << 20 | 14 << 27 | 9
    assert words[1] == 25 << 5 | 1 << 21 | 2 << 26 | 10
    assert words[5] & 0xFFFFFFFF == 0x80 << 5 | 0x80 << 13 | 4 << 21 | 2 << 24 | 1 << 28 | 2 << 30 | 14
    assert words[2:5] == plain[2:5] and words[6] == plain[6]
    with pytest.raises(UsageError, match="a TRF372017 has no setting 'n_int'; did you mean 'nint'"):
        TRF372017({"n_int": 25})
    with pytest.raises(ValueError, match="between 0 and 8191"):
        TRF372017({"rdiv": 8192}).get_mmap()
