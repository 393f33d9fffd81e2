"""Monitor and injector on a bare socket, compared with the pins. Written from the protocol description alone."""

import struct
import time

import pytest

from tests.support import TIMEOUT
from tests.support.connection import assert_closed
from tests.support.kernels import kernel, marks, run_dma
from tests.support.raw_management import Management
from tests.support.raw_moninj import Client
from tests.support.raw_session import Session
from tests.support.waiting import silent

LEVEL, OUTPUT_ENABLE = 0, 1
ENABLE_OVERRIDE, OVERRIDE_LEVEL, OVERRIDE_OUTPUT_ENABLE = range(3)
INPUT, OUTPUT = 0, 4
"""Channels of the gateware variant "demo"."""


@pytest.fixture
def client(device):
    with Client(device) as client:
        yield client
        for channel in (INPUT, OUTPUT):
            for override in range(3):
                client.inject(channel, override, 0)
        client.get(OUTPUT, ENABLE_OVERRIDE)


def level(device, channel):
    """Returns the channel's last level in the trace of the pins."""
    trace = device.control("trace", **{"from": 0})
    (pad,) = [pad["index"] for pad in trace["pads"] if pad["channel"] == channel]
    return [level for _, index, level in trace["events"] if index == pad][-1]


def test_injection_overrides_the_pin_until_released(device, client):
    client.watch_probe(OUTPUT, LEVEL)
    assert client.next() == ("probe", OUTPUT, LEVEL, 0)
    client.inject(OUTPUT, OVERRIDE_LEVEL, 1)
    assert client.get(OUTPUT, OVERRIDE_LEVEL) == 1
    client.inject(OUTPUT, ENABLE_OVERRIDE, 1)
    assert client.next() == ("probe", OUTPUT, LEVEL, 1)
    assert level(device, OUTPUT) == 1
    # The experiment continues, hidden by the override.
    with Session(device) as session:
        assert session.load(kernel("rtio")) is None
        session.run()
        assert marks(session.until_end()[0]) == [1]
    assert level(device, OUTPUT) == 1
    client.inject(OUTPUT, ENABLE_OVERRIDE, 0)
    assert client.next() == ("probe", OUTPUT, LEVEL, 0)
    assert level(device, OUTPUT) == 0


def test_level_set_by_a_kernel_is_reported(device, client):
    client.watch_probe(OUTPUT, LEVEL)
    assert client.next() == ("probe", OUTPUT, LEVEL, 0)
    with Session(device) as session:
        # Records and plays a long pulse train, whose period does not divide the polling interval of 200 ms.
        session.load(kernel("dma"))
        session.run()
        session.message(10)
        session.request()
        session.reply(b"i", (4).to_bytes(4, "little"))
        assert client.next() == ("probe", OUTPUT, LEVEL, 1)
        assert client.next() == ("probe", OUTPUT, LEVEL, 0)
    with Session(device) as session:
        assert run_dma(session, 7) == ([], None)
    with Session(device) as session:
        # The train has been cut off, maybe in a pulse.
        session.load(kernel("rtio"))
        session.run()
        session.until_end()
    assert level(device, OUTPUT) == 0


def test_level_and_direction_of_input_are_reported(device, client):
    pads = device.control("trace", **{"from": 0})["pads"]
    (pad,) = [pad["index"] for pad in pads if pad["channel"] == INPUT]
    client.watch_probe(INPUT, LEVEL)
    client.watch_probe(INPUT, OUTPUT_ENABLE)
    assert {client.next(), client.next()} == {("probe", INPUT, LEVEL, 0), ("probe", INPUT, OUTPUT_ENABLE, 0)}
    device.control("pad", index=pad, level=1)
    assert client.next() == ("probe", INPUT, LEVEL, 1)
    device.control("pad", index=pad, level=0)
    assert client.next() == ("probe", INPUT, LEVEL, 0)
    client.inject(INPUT, OVERRIDE_OUTPUT_ENABLE, 1)
    client.inject(INPUT, OVERRIDE_LEVEL, 1)
    client.inject(INPUT, ENABLE_OVERRIDE, 1)
    assert {client.next(), client.next()} == {("probe", INPUT, LEVEL, 1), ("probe", INPUT, OUTPUT_ENABLE, 1)}
    assert level(device, INPUT) == 1


def test_overrides_are_watched_by_every_client(device, client):
    with Client(device) as other:
        for one in (client, other):
            one.watch_override(OUTPUT, OVERRIDE_LEVEL)
            assert one.next() == ("override", OUTPUT, OVERRIDE_LEVEL, 0)
        client.inject(OUTPUT, OVERRIDE_LEVEL, 1)
        for one in (client, other):
            assert one.next() == ("override", OUTPUT, OVERRIDE_LEVEL, 1)
        other.watch_override(OUTPUT, OVERRIDE_LEVEL, enable=False)
        client.inject(OUTPUT, OVERRIDE_LEVEL, 0)
        assert client.next() == ("override", OUTPUT, OVERRIDE_LEVEL, 0)
        # A new watch first reports the current value.
        other.watch_override(OUTPUT, OVERRIDE_LEVEL)
        assert other.next() == ("override", OUTPUT, OVERRIDE_LEVEL, 0)


def test_absent_probe_is_read_as_zero(client):
    for channel in (OUTPUT, 999, 0x10000 | OUTPUT):
        client.inject(channel, 77, 1)
        assert client.get(channel, 77) == 0
    client.watch_probe(0x10000 | OUTPUT, LEVEL)
    assert client.next() == ("probe", 0x10000 | OUTPUT, LEVEL, 0)


def test_other_destinations_read_zero_and_are_logged(device, client):
    """Other destinations read as 0; each request for one logs a line."""
    with Management(device) as management:
        assert management.reply(b"\x02") == 1
        client.inject(0x20000 | OUTPUT, OVERRIDE_LEVEL, 1)
        assert client.get(0x30000 | OUTPUT, OVERRIDE_LEVEL) == 0
        client.watch_override(0x40000 | OUTPUT, OVERRIDE_LEVEL)
        assert client.next() == ("override", 0x40000 | OUTPUT, OVERRIDE_LEVEL, 0)
        log = management.log()
    for destination in (2, 3, 4):
        assert log.count(f"ERROR(runtime::moninj): monitor: there is no DRTIO destination {destination} on") == 1
    assert client.get(OUTPUT, OVERRIDE_LEVEL) == 0


@pytest.mark.parametrize("channel", [INPUT, OUTPUT])
def test_every_override_is_read_back_and_every_probe_reported(client, channel):
    """Each override keeps its own value, which is read back; overrides the channel lacks stay 0."""
    overrides = 3 if channel == INPUT else 2
    for override in range(4):
        client.inject(channel, override, 1)
        assert client.get(channel, override) == (1 if override < overrides else 0)
    for override in range(4):
        client.inject(channel, override, 0)
        assert client.get(channel, override) == 0
    for probe in range(3):
        client.watch_probe(channel, probe)
    got = [client.next() for _ in range(3)]
    assert [one[:3] for one in got] == [("probe", channel, probe) for probe in range(3)]


def test_repeated_watch_sends_no_value_and_ended_one_stops(device, client):
    """Re-enabling a watch does not resend its value; a disabled watch sends nothing."""
    for _ in range(2):
        client.watch_override(OUTPUT, OVERRIDE_LEVEL)
    assert client.next() == ("override", OUTPUT, OVERRIDE_LEVEL, 0)
    client.watch_override(OUTPUT, OVERRIDE_LEVEL)
    client.watch_override(OUTPUT, OVERRIDE_LEVEL, enable=False)
    client.watch_probe(OUTPUT, LEVEL, enable=False)
    client.inject(OUTPUT, OVERRIDE_LEVEL, 1)
    # The device polls every 0.1 s.
    device.pass_time(0.5)
    assert silent(device, client)


def test_watches_beyond_the_limit_are_rejected_and_logged(device, client):
    """256 probes and as many overrides; further watches are rejected with a log line, the others continue."""
    with Management(device) as management:
        assert management.reply(b"\x02") == 1
        for channel in range(257):
            client.watch_probe(channel, 77)
            client.watch_override(channel, 77)
        got = {client.next()[:3] for _ in range(512)}
        log = management.log()
    assert got == {(what, channel, 77) for what in ("probe", "override") for channel in range(256)}
    assert log.count("a client watches more than 256 probes; the rest is ignored") == 2


def test_nonzero_watch_flag_enables_the_watch(client):
    client.write(struct.pack("<BBIB", 3, 255, OUTPUT, OVERRIDE_LEVEL))
    assert client.next() == ("override", OUTPUT, OVERRIDE_LEVEL, 0)


def test_watches_end_with_their_client_and_overrides_stay(device, client):
    """A client's watches end when it disconnects; its overrides stay, visible to the others."""
    client.watch_override(OUTPUT, OVERRIDE_LEVEL)
    assert client.next()[3] == 0
    for level_ in (1, 0, 1):
        for _ in range(4):
            with Client(device) as other:
                other.watch_override(OUTPUT, OVERRIDE_LEVEL)
                other.watch_probe(OUTPUT, LEVEL)
                other.inject(OUTPUT, OVERRIDE_LEVEL, level_)
                assert other.get_among(OUTPUT, OVERRIDE_LEVEL) == level_
        assert client.next() == ("override", OUTPUT, OVERRIDE_LEVEL, level_)


def test_monitor_request_arriving_bytewise_is_executed(client):
    client.write_slowly(
        struct.pack("<BIBB", 1, OUTPUT, OVERRIDE_LEVEL, 1) + struct.pack("<BIB", 2, OUTPUT, OVERRIDE_LEVEL)
    )
    assert client.next() == ("override", OUTPUT, OVERRIDE_LEVEL, 1)


@pytest.mark.parametrize("kind", [4, 5, 255])
def test_unknown_monitor_request_closes_the_connection(device, kind):
    with Client(device) as one:
        one.write(bytes([kind]))
        assert_closed(one)


def test_wrong_monitor_greeting_closes_the_connection(device):
    with Client(device, greeting=b"ARTIQ coredev") as one:
        assert_closed(one)


def test_emulated_time_continues_while_a_client_polls(device, client):
    """A monitor polling more often than the emulator waits for a silent session does not stop the
    emulated time: the wait (`host_wait_ms`, 0.1 s here) applies only to input for kernels."""
    with Session(device):
        before, end = device.control("status")["time_ns"], time.monotonic() + TIMEOUT
        while device.control("status")["time_ns"] - before < 500_000_000:
            assert time.monotonic() < end, "the emulated time stands still"
            client.get(OUTPUT, ENABLE_OVERRIDE)
            time.sleep(0.03)
