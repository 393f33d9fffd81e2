"""Analyzer, monitor and injector of several boards, as seen by clients that connect to the first
one only."""

import itertools
import json
import re
from pathlib import Path

import pytest

from tests.support.boards import System
from tests.support.command import run_kairos
from tests.support.gateware import built
from tests.support.paths import BUILD
from tests.support.raw_analyzer import EXCEPTION, OUTPUT, STOPPED, dump
from tests.support.raw_moninj import Client
from tests.support.waiting import patiently

EXPERIMENT = Path(__file__).with_name("experiments") / "watched.py"
PINS = {"pair": ["ttl4", "sat_ttl4"], "chain": ["ttl4", "relay_ttl4", "sat_ttl4"]}
LEVEL = 0
ENABLE = 0
"""A probe, and an override, of a TTL."""


class Boards(System):
    """The connected boards of a system: the names of a pin of each, by destination, and their
    device database."""

    def __init__(self, folder, system):
        super().__init__(folder, system)
        self.system, self.pins = system, PINS[system]
        self.devices = folder / "devices.py"
        text = (BUILD / "gateware" / system / "device_db.py").read_text()
        self.devices.write_text(text.replace(f"'emulator://{system}'", repr(f"{self.host}:{self.ports[1381]}")))
        for destination in range(1, len(self.pins)):
            self.until_logged(f"destination {destination}: Kairos satellite")

    def kairos(self, command, port, *arguments):
        address = f"{self.host}:{self.ports[port]}"
        done = run_kairos(command, "--device", address, "--device-db", self.devices, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module", params=["pair", pytest.param("chain", marks=pytest.mark.long)])
def boards(request, tmp_path_factory):
    built(*{"pair": ["pair", "satellite"], "chain": ["chain", "relay", "satellite"]}[request.param])
    device = Boards(tmp_path_factory.mktemp("boards"), request.param)
    yield device
    device.close()


def client_of(boards):
    """Return a client of the monitor that is served: earlier clients may not have disconnected yet."""

    def connect():
        client = Client(boards)
        client.get(0, ENABLE)
        return client

    return patiently(connect)


def levels(text, name):
    """Return the changes of a pin in a VCD file: [(time, level)]."""
    code = re.search(rf"\$var wire 1 (\S+) {name} \$end", text)[1]
    time, found = 0, []
    for line in text.split("$enddefinitions $end\n")[1].splitlines():
        if line.startswith("#"):
            time = int(line[1:])
        elif line[1:] == code and line[0] in "01":
            found.append((time, int(line[0])))
    return found


def test_analyzer_dump_has_events_of_all_boards(boards, tmp_path):
    dump(boards)
    names = f"outputs='{' '.join(boards.pins)}'"
    near = boards.pins[1].replace("4", "5")
    done = run_kairos("run", EXPERIMENT, "--device-db", boards.devices, names, f"near='{near}'")
    assert done.returncode == 0, done.stdout + done.stderr
    vcd = tmp_path / "a.vcd"
    lines = boards.kairos("analyze", 1382, "--json", "--vcd", vcd, "--dump", tmp_path / "a.bin").splitlines()
    messages = [json.loads(line) for line in lines]
    # Each event once, although the submitting board and those on the way have recorded it, too.
    pins = {name: [] for name in [*boards.pins, near]}
    for message in messages:
        if message["kind"] == "output" and message["device"] in pins:
            pins[message["device"]].append(message)
    shown = [[(one["time"], one["data"]) for one in pins[name]] for name in boards.pins]
    assert len(shown[0]) == 6 and all(other == shown[0] for other in shown)
    assert [one["data"] for one in pins[near]] == [1, 0, 1, 0]
    assert all(one["slack"] > 0 for found in pins.values() for one in found)
    failed = [one for one in messages if one["kind"] == "exception"]
    last = len(boards.pins) - 1
    assert [(one["channel"], one["data"]) for one in failed] == [(last << 16 | 4, "underflow")]
    # Written as a waveform
    text = vcd.read_text()
    changes = [levels(text, name) for name in boards.pins]
    assert [level for _, level in changes[0]][-6:] == [1, 0] * 3
    assert all(other[-6:] == changes[0][-6:] for other in changes)
    times = [time for time, _ in levels(text, near)[-4:]]
    assert [later - time for time, later in itertools.pairwise(times)] == [77, 77, 78]
    # Nothing is reported twice
    assert [one.kind for one in dump(boards).messages] == [STOPPED]


def test_pins_of_all_boards_are_monitored_and_injected(boards):
    pads = {pad["name"]: pad["index"] for pad in boards.control("trace", **{"from": 0})["pads"]}

    def levels_of_pads():
        events = boards.control("trace", **{"from": 0})["events"]
        last = {pad: level for _, pad, level in events}
        return [last.get(pads[name], 0) for name in boards.pins]

    count = len(boards.pins)
    assert levels_of_pads() == [0] * count
    for level, seen in [("1", [1] * count), ("0", [0] * count)]:
        boards.kairos("moninj", 1383, "set", level, *boards.pins)
        assert levels_of_pads() == seen
        lines = boards.kairos("moninj", 1383, "watch", *boards.pins, "--for", "0.1").splitlines()
        assert sorted(lines) == sorted(f"{name}: {level}" for name in boards.pins)
    boards.kairos("moninj", 1383, "release", *boards.pins)
    with client_of(boards) as client:
        assert [client.get(board << 16 | 4, ENABLE) for board in range(count + 2)] == [0] * (count + 2)


def test_several_clients_monitor_one_satellite(boards):
    channel = 1 << 16 | 4
    clients = [client_of(boards) for _ in range(3)]
    try:
        for client in clients:
            client.watch_probe(channel, LEVEL)
            client.watch_override(channel, ENABLE)
            assert [client.next() for _ in range(2)] == [("probe", channel, 0, 0), ("override", channel, 0, 0)]
        clients[0].inject(channel, 1, 1)
        clients[0].inject(channel, ENABLE, 1)
        for client in clients:
            assert sorted(client.next() for _ in range(2)) == [("override", channel, 0, 1), ("probe", channel, 0, 1)]
        clients[2].inject(channel, ENABLE, 0)
        for client in clients:
            assert sorted(client.next() for _ in range(2)) == [("override", channel, 0, 0), ("probe", channel, 0, 0)]
    finally:
        for client in clients:
            client.close()


def test_offline_board_reads_zero_until_it_returns(boards):
    channel = 1 << 16 | 4
    name = boards.control("links")["links"][0]["to"]
    with client_of(boards) as client:
        client.watch_override(channel, ENABLE)
        assert client.next() == ("override", channel, 0, 0)
        client.inject(channel, ENABLE, 1)
        assert client.next() == ("override", channel, 0, 1)
        known = boards.uart().count("destination 1: Kairos satellite")
        boards.control("link", to=name, plugged=False)
        assert client.next() == ("override", channel, 0, 0)
        assert "monitor: DRTIO destination 1 does not answer" in boards.uart()
        # While it may be reachable, its record is missing; then there is none.
        assert dump(boards).error
        boards.until_logged("destination 1: its firmware does not answer")
        record = dump(boards)
        assert not record.error and record.messages[-1].kind == STOPPED
        boards.control("link", to=name, plugged=True)
        boards.until_logged("destination 1: Kairos satellite", known + 1)
        assert client.next() == ("override", channel, 0, 1)
        client.inject(channel, ENABLE, 0)
        assert client.next() == ("override", channel, 0, 0)
    assert all(one.kind not in (OUTPUT, EXCEPTION) for one in dump(boards).messages)
