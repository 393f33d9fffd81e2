"""A record of the analyzer as lanes."""

import pytest

from kairos.contracts import spi
from kairos.contracts.analyzer import Exception
from kairos.contracts.spi import SpiFlag
from kairos.coredevice.chips import ad53xx, ad9910
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
    "spi_u": local("SPIMaster", channel=6),
    "cpld": local("CPLD", spi_device="spi_u"),
    "beam": local("AD9910", chip_select=4, cpld_device="cpld", pll_n=32),
    "spi_z": local("SPIMaster", channel=7),
    "zotino": local("Zotino", spi_device="spi_z"),
    "spi_t": local("SPIMaster", channel=9),
    "tone": local("AD9834", spi_device="spi_t", clk_freq=50e6),
    "spi_a": local("SPIMaster", channel=10),
    "att": local("HMC542B", spi_device="spi_a"),
    "counter": local("EdgeCounter", channel=8),
}


def lanes(*messages):
    found, end = lanes_of_dump(Dump(LOG, False, list(messages)), DATABASE)
    return {(*lane.group, lane.name): lane for lane in found}, end


def out(channel, time, data, address=0, slack=100):
    return OutputMessage(channel, 1000 + time, 1000 + time - slack, address, data)


def test_record_has_pins_clocks_inputs_and_slack():
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


def test_chained_transfers_form_one_message():
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


def sent(channel, time, select, *words):
    """Yield the messages of a transfer on a bus: (data, bits) each, the last one ends it."""
    for number, (data, bits) in enumerate(words):
        config = config_word(length=bits, div=4, cs=select, flags=SpiFlag.END if number == len(words) - 1 else 0)
        yield out(channel, time + 1000 * number, config, spi.CONFIG_ADDRESS)
        yield out(channel, time + 1000 * number + 8, data << spi.WORD_BITS - bits)


def test_synthesisers_attenuators_and_dacs_are_decoded():
    head = ad9910.INSTRUCTION.encode(register=ad9910.PROFILE.address + 7)
    profile = ad9910.PROFILE.encode(asf=1.0, ftw=0.08, pow=0.25)
    found, _ = lanes(
        *sent(6, 0, 4, (head, 8), (profile >> 32, 32), (profile & 0xFFFFFFFF, 32)),
        *sent(6, 5000, 2, (0xFFFFFFF7, 32)),
        *sent(7, 0, 1, (ad53xx.WORD.encode(mode="DATA", target=8 + 3, data=0xC000), 24)),
    )
    settings = {path[1:]: (lane.unit, lane.values) for path, lane in found.items() if path[0] == "settings"}
    assert settings["beam", "profile 7 frequency"] == ("Hz", [pytest.approx(80e6, abs=0.2)])
    assert settings["beam", "profile 7 amplitude"] == ("", [1.0])
    assert settings["beam", "profile 7 phase"] == ("turns", [0.25])
    assert settings["cpld attenuators", "attenuation 0"] == ("dB", [1.0])
    assert settings["zotino", "ch3"] == ("V", [5.0])
    assert [path[0] for path in found] == ["settings"] * 8 + ["buses"] * 3 + ["RTIO"], "group by group"
    # From the end of the message on
    assert found["settings", "beam", "profile 7 phase"].times == found["buses", "spi_u", "beam"].ends


def test_single_chips_on_a_bus_are_decoded():
    words = (0x2100, 0x4000, 0x4400, 0xC800)
    messages = [sent(9, 5000 * n, 1, (word, 16)) for n, word in enumerate(words)]
    found, _ = lanes(*(event for message in messages for event in message), *sent(10, 0, 1, (247, 8)))
    settings = {path[1:]: (lane.unit, lane.values) for path, lane in found.items() if path[0] == "settings"}
    assert settings == {
        ("tone", "frequency 0"): ("Hz", [50e6 / 16]),
        ("tone", "phase 0"): ("turns", [0.5]),
        ("att", "attenuation"): ("dB", [1.0]),
    }
    # A frequency has two words
    ends = found["buses", "spi_t", "tone"].ends
    assert [found["settings", "tone", f"{name} 0"].times for name in ("frequency", "phase")] == [[ends[2]], [ends[3]]]


def test_edge_counter_counts_and_gates_are_shown():
    found, _ = lanes(out(8, 0, 0b1001), out(8, 500, 0b0100), InputMessage(8, 1500, 1600, 17), out(8, 600, 0))
    assert found["gates", "counter"].texts == ["counts rising edges, from 0", "stopped, sends the count", "stopped"]
    assert (found["inputs", "counter"].times, found["inputs", "counter"].texts) == ([500], ["17 edges"])


def test_log_and_errors_are_shown():
    text = b"state\x1eon 1\x1d"
    text = bytes(-len(text) % 4) + text
    words = [int.from_bytes(text[at : at + 4], "big") for at in range(0, len(text), 4)]
    found, _ = lanes(
        *(out(LOG, 40, word) for word in words), ExceptionMessage(1, 1100, Exception.UNDERFLOW), out(1, 0, 1)
    )
    assert (found["log", "state"].times, found["log", "state"].texts) == ([40], ["on 1"])
    assert (found["RTIO", "errors"].times, found["RTIO", "errors"].texts) == ([100], ["underflow on led"])


def test_empty_record_has_no_lanes():
    assert lanes() == ({}, 0)
