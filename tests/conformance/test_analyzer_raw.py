"""The analyzer service: dumps compared with the pins. Written from the format description alone."""

import socket

import pytest

from tests.support import TIMEOUT
from tests.support.connection import Connection
from tests.support.kernels import kernel, marks, run_dma
from tests.support.raw_analyzer import EXCEPTION, OUTPUT, STOPPED, dump
from tests.support.raw_session import Session
from tests.support.waiting import settled

RECORD, FAST, MANY, LATE = 0, 9, 10, 11
RING = 512 * 1024


@pytest.fixture
def fresh(device):
    """A device whose analyzer has just started recording."""
    dump(device)
    return device


def test_empty_record_is_dumped_with_stop_message(fresh):
    result = dump(fresh)
    assert (result.total, result.error, result.log_channel) == (32, 0, 12)
    (stopped,) = result.messages
    assert stopped.kind == STOPPED and stopped.counter > 0
    assert dump(fresh).messages[0].counter > stopped.counter


def test_recorded_outputs_agree_with_pins(fresh):
    fresh.control("trace_clear")
    with Session(fresh) as session:
        assert session.load(kernel("rtio")) is None
        session.run()
        assert marks(session.until_end()[0]) == [1]
    trace = fresh.control("trace", **{"from": 0})
    result = dump(fresh)
    *outputs, stopped = result.messages
    assert result.total == 32 * len(result.messages) and not result.error
    assert stopped.kind == STOPPED
    assert [(one.kind, one.channel, one.address, one.data) for one in outputs] == [
        (OUTPUT, 4, 0, data) for data in (1, 0, 1, 0)
    ]
    (pad,) = [pad["index"] for pad in trace["pads"] if pad["channel"] == 4]
    pins = [(when, level) for when, index, level in trace["events"] if index == pad]
    start = pins[0][0] - outputs[0].timestamp
    # Pins change in steps of 8 ns.
    assert [(one.timestamp // 8 * 8, one.data) for one in outputs] == [
        (when // 8 * 8 - start // 8 * 8, level) for when, level in pins
    ]
    # The kernel submits them 125 us ahead.
    assert all(100_000 < one.timestamp - one.counter <= 130_000 for one in outputs)


def test_underflow_is_recorded_as_exception_message(fresh):
    with Session(fresh) as session:
        assert run_dma(session, RECORD) == ([], None)
        marked, exception = run_dma(session, LATE)
    assert marked == [] and exception[0] == 0
    output, late, stopped = dump(fresh).messages
    assert (output.kind, output.channel, output.data) == (OUTPUT, 4, 1) and output.timestamp < output.counter
    assert (late.kind, late.channel, late.address, late.timestamp, late.data) == (EXCEPTION, 4, 0x14, 0, 0)
    assert stopped.kind == STOPPED


def test_paired_messages_are_sent_individually(fresh):
    with Session(fresh) as session:
        assert run_dma(session, FAST) == ([12800], None)
    result = dump(fresh)
    *outputs, stopped = result.messages
    assert not result.error and result.total == 32 * 801
    start = outputs[0].timestamp
    # The RTIO core of `demo` accepts 32 bits of data: the second word never reaches the analyzer.
    assert [(one.timestamp - start, one.data) for one in outputs] == [
        (32 * pulse + 8 * part, 1 - part) for pulse in range(400) for part in (0, 1)
    ]
    counters = [one.counter for one in outputs]
    assert counters == sorted(counters) and counters[-1] - counters[0] < 800 * 4 * 8


def test_full_ring_keeps_the_newest_messages(fresh):
    with Session(fresh) as session:
        assert run_dma(session, MANY) == ([3_600_000], None)
    result = dump(fresh)
    *outputs, stopped = result.messages
    assert result.total == 32 * 18001 and not result.error
    assert 32 * len(result.messages) >= RING and stopped.kind == STOPPED
    assert all(one.kind == OUTPUT for one in outputs)
    steps = {later.timestamp - one.timestamp for one, later in zip(outputs, outputs[1:], strict=False)}
    assert steps == {100, 300}
    assert len(dump(fresh).messages) == 1


def test_dump_header_has_the_documented_bytes(fresh):
    """32 bytes: the message that recording has stopped."""
    with Connection(fresh, 1382) as client:
        data = client.read_all()
    assert data[:16] == b"e" + b"\x20\0\0\0" + b"\x20" + bytes(7) + b"\0" + b"\x0c" + b"\x01"
    assert data[16:28] == bytes(12) and data[36:] == bytes(11) + b"\x03"


def test_consecutive_dumps_contain_each_event_once(fresh):
    for _ in range(3):
        with Session(fresh) as session:
            assert session.load(kernel("rtio")) is None
            session.run()
            assert marks(session.until_end()[0]) == [1]
        assert [one.data for one in dump(fresh).messages[:-1]] == [1, 0, 1, 0]


def test_bytes_sent_by_client_are_ignored(fresh):
    with Connection(fresh, 1382, b"ARTIQ analyzer\n" + bytes(range(256)) * 20) as client:
        assert client.read(1) == b"e"
    assert dump(fresh).messages


def three_dumps(device, at_once):
    """Returns three dumps, the first of a full ring, and the instructions core 0 spent on them."""
    with Session(device) as session:
        assert run_dma(session, MANY) == ([3_600_000], None)
    before = settled(device)[0]
    clients, dumps = [socket.socket() for _ in range(3)], []
    for client in clients if at_once else []:
        client.setblocking(False)
        client.connect_ex((device.host, device.ports[1382]))
    for client in clients:
        client.settimeout(TIMEOUT)
        if not at_once:
            client.connect((device.host, device.ports[1382]))
        data = b""
        while more := client.recv(65536):
            data += more
        client.close()
        dumps.append(len(data))
    # The device has noticed that the clients disconnected; their slots are free again.
    return dumps, settled(device)[0] - before


def test_three_simultaneous_clients_each_receive_a_dump(fresh):
    """One client is served while two wait: each receives a dump, and waiting costs no instructions."""
    one_by_one, cost = three_dumps(fresh, at_once=False)
    at_once, cost_at_once = three_dumps(fresh, at_once=True)
    # Three messages that recording has stopped, of which the full ring keeps one.
    assert sorted(at_once) == sorted(one_by_one) and min(at_once) == 16 + 32 and max(at_once) > RING
    assert cost_at_once < 1.3 * cost


def test_clients_after_a_disconnected_client_receive_a_dump(fresh):
    Connection(fresh, 1382).close()
    clients = [Connection(fresh, 1382) for _ in range(2)]
    for client in clients:
        assert len(client.read_all()) >= 16
        client.close()
    assert dump(fresh).messages
