"""Management with slow, silent or excessive clients, and with a full log."""

import re
import socket
import struct
import time

import pytest

from tests.support import sd_card
from tests.support.connection import Closed
from tests.support.raw_management import Management
from tests.support.waiting import silent, until

LINE = re.compile(r"\[ *\d+\.\d{6}s\] +(TRACE|DEBUG|INFO|WARN|ERROR)\([^)]+\): .+")
RING = 128 * 1024
DATA_MAX = 16 * 1024 * 1024
DEBUG_ALLOCATOR = b"\x08"


@pytest.fixture(scope="module")
def device(tmp_path_factory, start_device):
    directory = tmp_path_factory.mktemp("device")
    device = start_device(directory, gateware=False, sd=sd_card.make(directory / "card"))
    yield device
    device.close()


@pytest.fixture
def management(device):
    with Management(device) as management:
        assert management.reply(b"\x02") == 1
        yield management


def fill_log(client):
    """Logs more lines than the ring holds; returns when the device has written them."""
    client.write(DEBUG_ALLOCATOR * 2000)
    assert client.config_read(b"nothing") is None


def test_full_log_states_the_number_of_dropped_bytes(management):
    fill_log(management)
    log = management.log()
    first, *lines = log.splitlines()
    match = re.fullmatch(r"\[.*\]  WARN\(comms::logger\): (\d+) bytes of older lines were dropped", first)
    kept = sum(len(line) + 1 for line in lines)
    assert RING - 200 < kept <= RING
    assert all(LINE.fullmatch(line) for line in lines)
    assert int(match[1]) + kept == 2000 * (len(lines[-1]) + 1)
    # The log is kept until it is cleared.
    assert management.log().splitlines()[1:] == lines
    assert management.reply(b"\x02") == 1
    assert management.log() == ""


def test_pulling_client_gets_each_line_once_and_causes_none(device, management):
    """At level TRACE, sending the log must not produce log lines."""
    assert management.config_write(b"log_level", b"TRACE")
    with Management(device) as puller:
        puller.write(b"\x07")
        management.write(DEBUG_ALLOCATOR * 3)
        assert management.config_read(b"nothing") is None
        pulled = b""
        while pulled.count(b"no heap") < 3:
            pulled += puller.bytes()
        assert pulled.count(b"no heap") == 3
        assert management.log() == ""
        assert silent(device, puller)
    assert management.config_remove(b"log_level")


@pytest.mark.parametrize("greeting", [b"ARTIQ managemen", b"ARTIQ management\n"])
def test_endless_greeting_is_closed(device, management, greeting):
    with Management(device, greeting=None) as client:
        client.write(greeting)
        with pytest.raises(Closed):
            client.read(1)
    assert "client refused: it sent no" in management.log()


@pytest.mark.parametrize("length", [0, 1 << 31, (1 << 32) - 1])
def test_length_below_one_counts_as_zero(device, management, length):
    """Lengths below one count as 0: an empty value removes the key, an empty image is rejected."""
    length = struct.pack("<I", length)
    assert management.config_write(b"key", b"value")
    assert management.reply(b"\x0d" + management.pack(b"key") + length) == 1
    assert management.config_read(b"key") is None
    assert management.reply(b"\x09" + length) == 6
    with pytest.raises(Closed):
        management.read(1)


def test_too_long_value_or_image_is_rejected_after_reception(management):
    """They are received and rejected, and the connection stays open."""
    data = bytes(DATA_MAX + 1)
    assert management.config_write(b"key", data) is False
    assert management.reply(b"\x09" + management.pack(data)) == 6
    assert management.log().count(f"{DATA_MAX + 1} bytes are too many, the limit is {DATA_MAX}") == 2
    assert management.config_write(b"key", b"value") and management.config_read(b"key") == b"value"


@pytest.mark.parametrize("request_", [b"\x0d\x03\0\0\0key\x64\0\0\0", b"\x09\x64\0\0\0"], ids=["value", "image"])
def test_client_disconnecting_within_a_value_changes_no_key(device, management, request_):
    assert management.config_remove(b"key")
    with Management(device) as client:
        client.write(request_ + b"half of it")
    until(lambda: "malformed input, it ends in the middle of a request" in management.log())
    assert management.config_read(b"key") is None


@pytest.mark.long
def test_stalled_clients_delay_others_only_until_their_timeout(device, management):
    """One stops in the middle of a value, one sends a byte now and then, one does not read its reply."""
    begin = time.monotonic()
    with Management(device) as silent:
        silent.write(b"\x0d\x03\0\0\0key\x64\0\0\0half of it")
        with Management(device) as client:
            # The buffer for values is in use: this waits.
            assert client.config_write(b"key", b"value")
    assert 5 < time.monotonic() - begin < 40
    assert "a value of 100 bytes timed out after 10 bytes" in management.log()

    begin = time.monotonic()
    with Management(device) as dribbling:
        with pytest.raises((Closed, OSError)):
            dribbling.write(b"\x0d\x03\0\0\0key\x64\0\0\0")
            for _ in range(100):
                dribbling.write(b"x")
                time.sleep(1)
    # Long before the value is complete, at 100 s. (The device's time stands still for a part of
    # each of its waits.)
    assert 5 < time.monotonic() - begin < 60
    assert management.config_read(b"key") == b"value"

    fill_log(management)
    begin = time.monotonic()
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.connect((device.host, device.ports[1380]))
    deaf.sendall(b"ARTIQ management\n\0" + b"\x01" * 300)
    time.sleep(1)
    assert management.config_read(b"key") == b"value"
    assert time.monotonic() - begin < 40
    end = time.monotonic() + 40
    while "management: a client is not reading its data" not in management.log():
        assert time.monotonic() < end
        time.sleep(0.5)
    deaf.close()
