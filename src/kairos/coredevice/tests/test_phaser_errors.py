"""Errors of the initialisation of a Phaser, and of the search for an SU-Servo's update delay, from what is read."""

import pytest

from .traffic import KernelError, devices, run

ENTRIES = {
    "phaser": ("phaser.Phaser", {"channel_base": 32}),
    "fixed": ("phaser.Phaser", {"channel_base": 32, "tune_fifo_offset": False}),
    "spi": ("spi2.SPIMaster", {"channel": 1}),
    "line": ("ttl.TTLOut", {"channel": 2}),
    "cpld": ("urukul.CPLD", {"spi_device": "spi", "refclk": 100e6, "clk_sel": 2, "io_update_device": "line"}),
    "shared": ("suservo.SharedDDS", {"cpld_device": "cpld"}),
}
CARD = [19, 4, 1]
DAC = [0x54, 0x09, 0x04, 0x9C, 35, 0, 0, 0, 0, 0]
SAMPLES = [0x05, 0xAF, 0xF0, 0x5A, 0xAF, 0x05, 0x5A, 0xF0]


@pytest.fixture(scope="module")
def get():
    return devices(ENTRIES).get


@pytest.mark.parametrize(
    "method, args, answers, text",
    [
        ("phaser._check_card", (), [*CARD, 21], "large number of frame CRC errors"),
        ("phaser._check_card", (), [*CARD, 0], "frame timestamp measurement timed out"),
        ("phaser._begin_dac", (), [0, 0], "DAC version readback invalid"),
        ("phaser._begin_dac", (), [*DAC[:2], 0, 0], "DAC config0 reset readback invalid"),
        ("phaser._begin_dac", (), [*DAC[:4], 95, 0], "DAC temperature out of bounds"),
        ("phaser.init", (), [*CARD, 0, *DAC, *SAMPLES, 0, 0, 0, 0x80, 0, 1], "DAC iotest failure"),
        ("phaser.dac_iotest", ([1, 2, 3, 4],), [0] * 8, "DAC test data readback failed"),
        ("phaser.dac_tune_fifo_offset", (), [0, 0, *[0x38, 0] * 8], "no good fifo offset"),
        ("phaser._check_dac", (False,), [0, 0], "DAC PLL lock failed, check clocking"),
        ("fixed._check_dac", (False,), [0, 3, 8, 0], "DAC alarm: see get_dac_alarms"),
        ("phaser.channel[0].begin", (True,), [0], "attenuator test failed"),
        ("phaser.channel[0].begin_samples", (), [0] * 4, "DUC.oscillator phase/amplitude test failed"),
        ("phaser.channel[1]._begin_upconverter", (), [0] * 4, "TRF identification failed"),
        ("phaser.channel[1]._begin_upconverter", (), [0x68, 0, 0, 0, 2], "TRF lock failure"),
        ("phaser.channel[1]._begin_upconverter", (), [0x68, 0, 0, 0, 4, 0x68, 0x10, 0, 0], "TRF R_SAT_ERR"),
    ],
)
def test_failed_check_of_a_phaser_is_named(get, method, args, answers, text):
    name, *path = method.split(".")
    owner = get(name)
    if path[0].startswith("channel"):
        owner = owner.channel[int(path[0][8])]
    times = [] if "timed out" in text else [1000]
    with pytest.raises(KernelError, match=f"ValueError: {text}"):
        run(getattr(owner, path[-1]), *args, data=[answer << 1 for answer in answers], times=times)


@pytest.mark.parametrize(
    "odd, text",
    [
        ([1] * 16 + [0] * 32, "no clear IO_UPDATE-SYNC_CLK alignment edge found"),
        (([1] * 32 + [0] * 16) * 16, "IO_UPDATE-SYNC_CLK alignment edges are too broad"),
    ],
)
def test_unclear_edges_of_sync_clk_are_errors(get, odd, text):
    with pytest.raises(KernelError, match=f"ValueError: {text}"):
        run(get("shared").tune_io_update_group_delay, data=odd)
