"""Phaser: accesses to the registers of the card, and coefficients of its servos."""

import pytest

from kairos.coredevice.tests.traffic import KernelError, devices, run
from tests.support.vectors import vectors

BASE = 0x20
REGISTERS = BASE


@pytest.fixture(scope="module")
def phaser():
    return devices({"phaser": ("phaser.Phaser", {"channel_base": BASE})}).get("phaser")


def written(traffic):
    """Return the writes to registers: time, address byte, data."""
    return [
        [time, f"{address:02x}", f"{data:02x}"]
        for time, channel, address, data in traffic.outputs
        if channel == REGISTERS and address & 0x80
    ]


def pairs(traffic):
    return " ".join(f"{address}={data}" for _, address, data in written(traffic))


@vectors("phaser_registers", only=(0, 1, 2))
def test_spi_transfers_are_writes_with_their_times(phaser, vector):
    method, args = {
        "channel[1].set_att(10.0)": (phaser.channel[1].set_att, (10.0,)),
        "dac_write(0x1f, 0x9982)": (phaser.dac_write, (0x1F, 0x9982)),
        "channel[1].trf_write(0x082002ea)": (phaser.channel[1].trf_write, (0x082002EA,)),
    }[vector["call"]]
    traffic = run(method, *args)
    assert written(traffic) == vector["events"] and traffic.now == vector["advance"]


@vectors("phaser_registers", only=(3,))
def test_upconverter_is_read_with_a_clock_between(phaser, vector):
    traffic = run(phaser.channel[1].trf_read, 0, data=[0x68 << 1, 0, 0, 0x40 << 1])
    assert traffic.value == 0x40000068
    writes = [(address, data) for _, address, data in written(traffic)]
    sent = [data for address, data in writes if address == "8d"]
    assert sent == [*vector["bytes_0d"], "00", "08", "00", "00", "00"]
    gap = writes.index(("8c", "00"))
    assert writes[gap : gap + 4] == [("8c", "00"), ("8b", "04"), ("8a", "02"), ("8d", "00")]
    flags = [data for address, data in writes[gap + 4 :] if address == "8a"]
    assert flags == ["24", "26"]
    reads = [address for _, channel, address, _ in traffic.outputs if channel == REGISTERS and not address & 0x80]
    assert reads == [0x0E] * 4


@vectors("phaser_registers", only=(4, 5, 6, 7))
def test_registers_take_the_bytes_of_a_call(phaser, vector):
    channel = phaser.channel[1]
    if "set_servo" in vector["call"]:
        assert [pairs(run(channel.set_servo, *args)) for args in ((2, 1, 0), (1, 0, 0))] == vector["bytes"].split(" / ")
        return
    method, args = {
        "channel[1].set_duc_frequency(10e6)": (channel.set_duc_frequency, (10e6,)),
        "channel[1].set_duc_phase(0.375)": (channel.set_duc_phase, (0.375,)),
        "set_cfg()": (phaser.set_cfg, ()),
    }[vector["call"]]
    assert pairs(run(method, *args)) == vector["bytes"]


@vectors("phaser_registers", only=(8,))
def test_oscillator_words_go_to_their_channels(phaser, vector):
    oscillator = phaser.channel[1].oscillator[3]
    calls = [
        (oscillator.set_frequency, (1.5e6,)),
        (oscillator.set_amplitude_phase, (0.25, 0.125, 1)),
        (oscillator.set_frequency, (-2e6,)),
    ]
    found = [run(method, *args).outputs for method, args in calls]
    assert [[f"{channel << 8 | address:04x}", f"{data:08x}"] for ((_, channel, address, data),) in found] == vector[
        "events"
    ]


@vectors("phaser_set_iir")
def test_servo_coefficients_follow_gains_or_are_refused(phaser, vector):
    channel = phaser.channel[1]
    if "error" in vector:
        with pytest.raises(KernelError, match=f"ValueError: {vector['error']}"):
            run(channel.set_iir, 2, *vector["args"])
        return
    bytes_ = written(run(channel.set_iir, 2, *vector["args"]))
    first = 0x80 | 0x32 + 32 + 16
    assert [int(address, 16) for _, address, _ in bytes_] == list(range(first, first + 8))
    words = [int(high[2] + low[2], 16) for high, low in zip(bytes_[::2], bytes_[1::2], strict=True)]
    assert [word - (word >> 15 << 16) for word in words] == vector["b0_b1_a1_offset"]


@pytest.mark.parametrize(
    "method, args, text",
    [
        ("spi_cfg", (1, 1, 0), "divider out of bounds"),
        ("spi_cfg", (1, 258, 0), "divider out of bounds"),
        ("spi_cfg", (1, 34, 0, 0, 0, 0, 0, 0, 9), "length out of bounds"),
        ("set_dac_cmix", (5,), "takes steps from -3 to 4"),
        ("channel.set_servo", (4,), "invalid profile index"),
        ("channel.set_att", (40.0,), "attenuation out of bounds"),
    ],
)
def test_impossible_settings_of_the_card_are_refused(phaser, method, args, text):
    owner = phaser.channel[0] if method.startswith("channel.") else phaser
    with pytest.raises(KernelError, match=f"ValueError: .*{text}"):
        run(getattr(owner, method.rpartition(".")[2]), *args)


def test_dac_registers_are_read_in_two_messages(phaser):
    traffic = run(phaser.dac_read, 0x7F, data=[0x54 << 1, 0x09 << 1])
    assert traffic.value == 0x5409
    assert [data for _, address, data in written(traffic) if address == "8d"] == ["ff", "00", "00"]
    assert [data for _, address, data in written(traffic) if address == "8a"] == ["00", "02"]
    assert run(phaser.get_dac_temperature, data=[25 << 1, 0]).value == 25
