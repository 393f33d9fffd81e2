"""Waveforms through the hub: events of the analyzer for many clients, as a stream, as files, and
awaited events."""

import json
import threading

import pytest

import kairos.hub
from kairos.hub import HubError
from kairos.network import analyzer
from tests.support.command import run_kairos
from tests.support.hub import demo_lab, fails
from tests.support.kernels import run_empty, run_rtio
from tests.support.raw_session import Session
from tests.support.waiting import until
from tests.support.waveforms import changes_of_vcd

EXPECTED = [(0, 1), (1000, 0), (4000, 1), (5000, 0)]
"""Times in machine units since the first one, and levels, of the pulses of the kernel `rtio` on
ttl4."""


@pytest.fixture
def lab(hub):
    with demo_lab(hub) as lab:
        yield lab


@pytest.fixture
def waveforms(lab):
    """The waveforms of the device, with older events already read."""
    waveforms = lab["demo"].waveforms
    waveforms.read()
    return waveforms


def levels(events):
    """Return the outputs of a pin: times since the first one, levels."""
    found = [(event.timestamp, event.data) for event in events if event.kind == "output" and event.address == 0]
    return [(when - found[0][0], level) for when, level in found]


def played(events):
    """Return the newest pulses."""
    return levels(events[-len(EXPECTED) :])


def test_clients_read_the_same_events(hub, lab, waveforms, device):
    run_rtio(device)
    events = [event for event in waveforms.read("ttl4") if event.kind == "output" and event.address == 0]
    assert played(events) == EXPECTED
    assert {event.name for event in events} == {"ttl4"} and all(event.slack > 0 for event in events)
    with kairos.hub.connect(hub.address) as other:
        again = other["demo"].waveforms.read("ttl4")
    assert played([event for event in again if event.kind == "output" and event.address == 0]) == EXPECTED
    assert [event.kind for event in again].count("stopped") > 1
    status = waveforms.status()
    assert status.events >= len(again) and status.machine_hertz == 1e9 and status.newest > status.oldest
    assert not status.HasField("pulse")


def test_newest_events_of_a_channel_are_read(waveforms, device):
    run_rtio(device)
    waveforms.read()
    newest = waveforms.read("ttl4", newest=4, kept=True)
    assert levels(newest) == EXPECTED
    assert [event.kind for event in newest if event.kind != "stopped"] == ["output"] * 4


def test_followed_events_reach_every_client(waveforms, device):
    """By two clients simultaneously, each of which receives all of them."""
    streams = [waveforms.follow("ttl4", newest=1, period=0.1) for _ in range(2)]
    for stream in streams:
        next(stream)
    run_rtio(device)
    for stream in streams:
        found = []
        while len(levels_or_none(found)) < 4:
            missing, events = next(stream)
            assert missing == 0
            found += events
        assert levels(found) == EXPECTED
        stream.close()


def levels_or_none(events):
    return levels(events) if any(event.kind == "output" for event in events) else []


def test_exported_files_agree_with_the_analyzer(waveforms, device):
    """The dump equals the device's; the levels of a pin in the VCD file are those of its events."""
    run_rtio(device)
    text, dump = waveforms.vcd().decode(), analyzer.decode(waveforms.dump(kept=True))
    timed = [message for message in dump.messages if hasattr(message, "timestamp")]
    origin = min(message.timestamp for message in timed)
    channel = next(event.channel for event in waveforms.read("ttl4", newest=1, kept=True) if event.name == "ttl4")
    driven = [m for m in timed if m.channel == channel and getattr(m, "address", 1) == 0]
    expected = [(m.timestamp - origin, str(m.data & 1)) for m in sorted(driven, key=lambda m: m.timestamp)]
    assert len(expected) >= 4 and changes_of_vcd(text)["ttl4"][-4:] == expected[-4:]
    assert "$timescale 1 ns $end" in text and "rtio_slack" in text
    only = waveforms.vcd("ttl4", kept=True).decode()
    assert list(changes_of_vcd(only)) == ["ttl4"]


def test_capture_waits_for_the_matching_event(waveforms, device):
    before = waveforms.read(kept=True)
    captured = []
    waits = threading.Thread(target=lambda: captured.append(waveforms.capture("ttl4", "output", 2, 3, timeout=60)))
    waits.start()
    until(lambda: len(waveforms.read(kept=True)) > len(before))
    run_rtio(device)
    waits.join()
    found, events = captured[0]
    assert found <= 2 and events[found].name == "ttl4" and events[found].kind == "output"
    assert events[found] not in before and len(events) <= 2 + 1 + 3
    with pytest.raises(HubError, match="demo has recorded no such event") as failed:
        waveforms.capture("ttl4", "underflow", timeout=0.2)
    assert failed.value.code == "DEADLINE_EXCEEDED"


def test_absent_channel_and_device_are_reported(lab, waveforms, device):
    fails("NOT_FOUND", "there is no channel 'none'", lambda: waveforms.read("none"))
    fails("INVALID_ARGUMENT", "at most 4096 events", lambda: waveforms.capture(before=5000))
    fails("UNAVAILABLE", "does not answer", lambda: lab["away"].waveforms.read())
    with Session(device) as session:
        run_empty(session)


def test_command_line_shows_and_exports_events(hub, lab, device, tmp_path):
    def run(*words):
        return run_kairos("hub", "waveform", *words, "--hub", hub.address)

    run_rtio(device)
    done = run("demo/ttl4", "--json", "--table", "4")
    assert done.returncode == 0, done.stderr
    shown = [json.loads(line) for line in done.stdout.splitlines()]
    played = [event["timestamp"] for event in shown if event["kind"] == "output"]
    assert [when - played[0] for when in played] == [0, 1000, 4000, 5000]
    table = run("demo", "--table", "3").stdout.splitlines()
    assert table[0].split() == ["time", "/", "mu", "slack", "/", "mu", "kind", "channel", "name", "address", "data"]
    vcd, dump = tmp_path / "pins.vcd", tmp_path / "record.bin"
    done = run("demo", "--vcd", vcd, "--dump", dump)
    assert done.returncode == 0 and "ttl4" in vcd.read_text(), done.stderr
    analyzed = run_kairos("analyze", dump, "--json")
    assert analyzed.returncode == 0 and len(analyzed.stdout.splitlines()) > 4, analyzed.stderr
    done = run("demo", "--wait", "0.2", "--kind", "underflow")
    assert done.returncode == 1 and "no such event" in done.stderr, done.stderr
    assert run("none").returncode == 1
