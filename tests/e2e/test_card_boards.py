"""Cards that are boards of their own: a Kasli-SoC with a Shuttler and a Songbird at its connectors, from its
description to waveforms that begin with a pulse of the master. The Shuttler speaks DRTIO."""

import json
from pathlib import Path

import pytest
from kairos_gateware.device_db import render

from kairos.coredevice.chips.shuttler import LATENCY
from kairos.coredevice.exceptions import I2CError, RTIODestinationUnreachable
from kairos.testing import Bench
from tests.support.boards import System
from tests.support.card_boards import card_boards
from tests.support.raw_moninj import Client
from tests.support.waiting import let_pass, until

EXPERIMENT = Path(__file__).with_name("experiments") / "card_boards.py"
pytestmark = pytest.mark.long
"""The gateware of three boards takes a minute to build."""


CARD_LATE = 4
"""Cycles by which a counter that DRTIO has set is late: of the packet's words and of the card, of which the round trip
does not tell."""


SHUTTLER = 1 << 16
"""Its first channel, an LED."""
LEVEL, ENABLE, INJECTED = 0, 0, 1
"""A probe of a TTL, and two of its overrides."""


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    """A device database, and the description of the system beside it."""
    folder = tmp_path_factory.mktemp("boards")
    master, system = card_boards(folder, drtio=("shuttler",))
    path = folder / "device_db.py"
    path.write_text(render(master, f"emulator://{system}"))
    return path, system


@pytest.fixture(scope="module")
def db(described):
    return described[0]


def test_cards_behind_eem_links_begin_with_the_master(db):
    with Bench(db) as bench:
        bench.run(EXPERIMENT, "Boards")
        assert bench.warnings == []
        assert bench.datasets["identity"] & 0xFFF0 == 0x38D0, "the ADC of the Shuttler answers"
        ((mark, _),) = bench.pin("ttl4").pulses
        begin = mark + LATENCY * 8e-9
        (level,) = bench.dac("shuttler0.ch5").changes
        assert level == (pytest.approx(begin + CARD_LATE * 8e-9, abs=1e-12), pytest.approx(2.5, abs=2e-3))
        tone = bench.dds("songbird0.tone2").changes[0]
        assert tone.time == pytest.approx(begin, abs=1e-12)
        assert bench.dds("songbird0.tone2").changes[-1].frequency == pytest.approx(150e6, abs=1)
        assert bench.part("shuttler0")["relays"] == 1 << 5


def test_card_that_speaks_drtio_reports_errors_and_comes_back_when_plugged_in(db):
    with Bench(db) as bench:
        bench.run(EXPERIMENT, "Boards")
        bench.run(EXPERIMENT, "Twice")
        assert bench.pin("shuttler0_led0").pulses
        assert bench.lost_outputs() == ["RTIO busy error involving channel 0x10024:spi_shuttler0_relay"]
        bench.device.control.request("link", to="shuttler", plugged=False)
        with pytest.raises(RTIODestinationUnreachable, match="0x10000:shuttler0_led0"):
            bench.run(EXPERIMENT, "Twice")
        bench.device.control.request("link", to="shuttler", plugged=True)
        bench.run(EXPERIMENT, "Boards")
        assert bench.dac("shuttler0.ch5").changes and bench.warnings == []


def test_selftest_and_doctor_wait_for_a_card_after_the_start(kairos, db):
    done = kairos("selftest", "--json", "shuttler0", "shuttler0_led0", device_db=db)
    checks = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and {check["passed"] for check in checks} == {True}, done.stdout + done.stderr
    assert len([check for check in checks if check["unit"] == "V"]) == 16
    done = kairos("device", "doctor", "--json", device_db=db)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and not any(one["state"] == "bad" for one in found), done.stdout + done.stderr
    assert ["good", "good"] == [one["state"] for one in found if one["subject"] in ("board 1", "board 2")]


def test_selftest_names_a_card_that_does_not_come_up(kairos, db, described, tmp_path):
    """Its cable is not plugged in."""
    system = tmp_path / "system.toml"
    text = described[1].read_text()
    system.write_text(text.replace('to = "shuttler"', 'to = "shuttler"\nunplugged_ns = [[0, 1000000000000]]'))
    path = tmp_path / "device_db.py"
    path.write_text(db.read_text().replace(str(described[1]), str(system)))
    done = kairos("selftest", "--json", "shuttler0_led0", "songbird0", device_db=path)
    checks = [json.loads(line) for line in done.stdout.splitlines()]
    failed = [check["card"] for check in checks if not check["passed"]]
    assert done.returncode == 1 and failed[0] == "board 1" and set(failed) == {"board 1", "shuttler0_led0"}, checks
    done = kairos("device", "doctor", "--json", device_db=path)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert ["bad"] == [one["state"] for one in found if one["subject"] == "board 1"]


def test_channels_of_a_card_that_speaks_drtio_are_monitored_and_injected(described, tmp_path):
    device = System(tmp_path, described[1])
    try:
        until(lambda: all(link["up"] for link in device.links()) or let_pass(device, 0.1))
        with Client(device) as client:
            client.watch_probe(SHUTTLER, LEVEL)
            assert client.next() == ("probe", SHUTTLER, LEVEL, 0)
            for override in (INJECTED, ENABLE):
                assert client.get_among(SHUTTLER, override) == 0
                client.inject(SHUTTLER, override, 1)
            assert client.next() == ("probe", SHUTTLER, LEVEL, 1)
            assert [client.get_among(SHUTTLER, override) for override in (INJECTED, ENABLE)] == [1, 1]
        trace = device.control("trace", **{"from": 0})
        (pad,) = [pad["index"] for pad in trace["pads"] if pad["name"] == "shuttler0_led0"]
        assert [level for _, changed, level in trace["events"] if changed == pad][-1] == 1
        device.control("link", to="shuttler", plugged=False)
        let_pass(device, 0.5)
        with Client(device) as client:
            assert client.get(SHUTTLER, ENABLE) == 0, "it does not answer"
        assert "monitor: DRTIO destination 1 does not answer" in device.uart()
    finally:
        device.close()


def test_i2c_of_a_card_is_reached_by_kernels(db):
    """Its bus 0 has nothing on it, and there is no other."""
    with Bench(db) as bench:
        bench.run(EXPERIMENT, "Bus", number=0)
        assert (bench.datasets["acknowledged"], bench.datasets["byte"]) == (False, 0xFF)
        with pytest.raises(I2CError, match="I2C start fail"):
            bench.run(EXPERIMENT, "Bus", number=1)


def test_distributed_trace_has_the_outputs_of_a_card(db):
    """Which this board plays, while the other card, a satellite, plays its own."""
    with Bench(db) as bench:
        bench.run(EXPERIMENT, "Trace")
        begins = [bench.pin(name).pulses[-1][0] for name in ("ttl4", "shuttler0_led0", "songbird0_led0")]
        late = CARD_LATE * 8e-9
        assert begins[1] - begins[0] == pytest.approx(1e-6 + late, abs=1e-12)
        assert begins[2] - begins[0] == pytest.approx(2e-6, abs=1e-12)
