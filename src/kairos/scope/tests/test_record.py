"""A record of the analyzer as lanes."""

import pytest

from kairos.contracts import spi
from kairos.contracts.analyzer import Exception
from kairos.contracts.spi import SpiFlag
from kairos.coredevice.parts.spi import config_word
from kairos.network.analyzer import Dump, ExceptionMessage, InputMessage, OutputMessage
from kairos.scope.lanes import FLOATING
from kairos.scope.record import lanes_of_dump

LOG = 99


def local(driver, **arguments):
    return {"type": "local", "class": driver, "arguments": arguments}


DATABASE = {
    "core": local("Core", ref_period=1e-9, ref_multiplier=8),
    "led": local("TTLOut", channel=1),
    "pmt": local("TTLInOut", channel=2),
    "clock": local("TTLClockGen", channel=3),
    "bus": local("SPIMaster", channel=4),
    "dac": local("Fastino", channel=5),
}


def lanes(*messages):
    found, end = lanes_of_dump(Dump(LOG, False, list(messages)), DATABASE)
    return {(*lane.group, lane.name): lane for lane in found}, end


def out(channel, time, data, address=0, slack=100):
    return OutputMessage(channel, 1000 + time, 1000 + time - slack, address, data)


def test_pins_clocks_inputs_and_slack():
    found, end = lanes(
        out(1, 0, 1),
        out(2, 0, 1, address=1),
        out(1, 500, 0, slack=7),
        InputMessage(2, 1300, 1400, 1),
        out(3, 700, 1 << 31),
        out(5, 800, 0xABC, address=3),
    )
    assert (found["pins", "led"].times, found["pins", "led"].levels) == ([0, 500], [1, 0])
    assert found["pins", "pmt"].initial == FLOATING and found["pins", "pmt"].levels == [0]
    assert found["inputs", "pmt"].times == [300]
    # The word's upper bit: half of the coarse clock's frequency.
    assert found["clocks", "clock"].values == [pytest.approx(62.5e6)]
    assert found["other channels", "dac"].texts == ["0xabc to 0x3"]
    assert found["RTIO", "slack"].values[:3] == [100, 100, 7] and end == 800


def test_transfers_are_chained_to_messages():
    first = config_word(length=8, div=4, cs=2, flags=0)
    last = config_word(length=32, div=4, cs=2, flags=SpiFlag.END)
    found, _ = lanes(
        out(4, 0, first, spi.CONFIG_ADDRESS),
        out(4, 8, 0x0E << 24),
        out(4, 300, last, spi.CONFIG_ADDRESS),
        out(4, 308, 0xDEADBEEF),
    )
    lane = found["buses", "bus", "bus select 2"]
    assert lane.times == [8] and lane.texts == ["0x0edeadbeef (40 bits)"]
    assert lane.ends[0] > 308 + 32 * 4 * 8


def test_log_and_errors():
    text = b"state\x1eon 1\x1d"
    text = bytes(-len(text) % 4) + text
    words = [int.from_bytes(text[at : at + 4], "big") for at in range(0, len(text), 4)]
    found, _ = lanes(
        *(out(LOG, 40, word) for word in words), ExceptionMessage(1, 1100, Exception.UNDERFLOW), out(1, 0, 1)
    )
    assert (found["log", "state"].times, found["log", "state"].texts) == ([40], ["on 1"])
    assert (found["RTIO", "errors"].times, found["RTIO", "errors"].texts) == ([100], ["underflow on led"])


def test_an_empty_record_is_a_page_without_lanes():
    assert lanes() == ({}, 0)
