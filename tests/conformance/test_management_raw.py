"""Management, analyzer and monitor services on bare sockets: every message, every error, malformed input."""

import random
import re
import struct
import zlib

import pytest

from tests.support import sd_card
from tests.support.boot_images import small_image
from tests.support.connection import Closed, Connection, assert_closed
from tests.support.raw_management import Management
from tests.support.raw_moninj import Client
from tests.support.waiting import printed

DEBUG_ALLOCATOR = b"\x08"
"""Request without a reply; it logs a line."""
LINE = re.compile(r"\[ *\d+\.\d{6}s\] +(TRACE|DEBUG|INFO|WARN|ERROR)\([^)]+\): .+")


@pytest.fixture(scope="module")
def device(device_with_card):
    return device_with_card


@pytest.fixture
def management(device):
    with Management(device) as management:
        yield management
    # The next client must be served, whatever the test did.
    with Management(device) as after:
        assert after.config_read(b"nothing") is None


def test_log_lines_have_the_documented_form(management):
    management.write(DEBUG_ALLOCATOR)
    for _ in range(2):
        lines = management.log().splitlines()
        assert any("no heap" in line for line in lines)
        for line in lines:
            assert LINE.fullmatch(line), line


def test_cleared_log_lacks_earlier_lines(management):
    management.write(DEBUG_ALLOCATOR)
    assert "no heap" in management.log()
    assert management.reply(b"\x02") == 1
    assert "no heap" not in management.log()


def test_first_lines_name_firmware_and_gateware(tmp_path, start_device):
    device = start_device(tmp_path, gateware=False)
    try:
        with Management(device) as client:
            assert "Kairos runtime" in client.log().splitlines()[0]
    finally:
        device.close()


def test_pull_log_streams_lines_and_new_client_takes_over(device, management):
    management.write(b"\x07")
    with Management(device) as writer:
        assert writer.config_write(b"log_level", b"nonsense") is False
        pulled = b""
        while b"log_level" not in pulled:
            pulled += management.bytes()
    with Management(device) as second:
        second.write(b"\x07")
        with pytest.raises(Closed):
            while True:
                management.bytes()


def test_hand_edited_configuration_values_are_read(tmp_path, start_device):
    card = sd_card.make(tmp_path / "card", [(b"CONFIG  TXT", b"Preset=From A Text Editor\r\n")])
    device = start_device(tmp_path, gateware=False, sd=card)
    try:
        with Management(device) as client:
            assert client.config_read(b"preset") == b"From A Text Editor"
            assert client.config_write(b"preset", b"")
            assert client.config_read(b"preset") is None
    finally:
        device.close()


def test_written_configuration_values_are_read_until_removed(management):
    values = {
        b"ip6": b"fd00::1/64",
        b"rtio_clock": b"x" * 101,
        b"startup_kernel": bytes(range(256)) * 400,
        b"k": b"a\nb",
    }
    for key, value in values.items():
        assert management.config_read(key) is None
        assert management.config_write(key, value)
        assert management.config_read(key) == value
    for key in values:
        assert management.config_remove(key)
        assert management.config_remove(key)
        assert management.config_read(key) is None


def test_config_erase_removes_all_keys(management):
    assert management.config_write(b"a", b"1") and management.config_write(b"b", b"2" * 500)
    assert management.reply(b"\x0f") == 1
    assert management.config_read(b"a") is None and management.config_read(b"b") is None


@pytest.mark.parametrize("key", [b"a=b", b"a/b", b"..", b"a\\b", b"a b"])
def test_keys_the_card_cannot_store_are_refused(management, key):
    assert management.config_write(key, b"1") is False
    assert management.config_read(key) is None
    assert management.config_remove(key) is False


@pytest.mark.parametrize("kind", [b"\x0c", b"\x0d", b"\x0e"])
@pytest.mark.parametrize("key", [b"", b"\xc3\xa4", b"k" * 129])
def test_invalid_keys_are_answered_and_the_connection_closed(management, kind, key):
    assert management.reply(kind + management.pack(key)) == 6
    assert_closed(management)


def test_changed_log_levels_take_effect_at_once(device, management):
    assert management.config_write(b"log_level", b"debug")
    assert management.config_read(b"log_level") == b"debug"
    for bad in (b"loud", b"\xff"):
        assert management.config_write(b"log_level", bad) is False
    assert management.config_write(b"log_level", b"OFF")
    management.reply(b"\x02")
    with Management(device, greeting=None) as wrong:
        wrong.write(b"x" * 20)
        assert_closed(wrong)
    assert management.log() == ""
    assert management.config_remove(b"log_level")
    with Management(device, greeting=None) as wrong:
        wrong.write(b"x" * 20)
        assert_closed(wrong)
    assert "client refused" in management.log()


def test_debug_allocator_request_has_no_reply(management):
    assert management.reply(b"\x02") == 1
    management.write(DEBUG_ALLOCATOR)
    assert "no heap" in management.log()


@pytest.mark.parametrize("kind", [0, 3, 4, 6, 10, 11, 16, 0x5A, 129, 130, 255])
def test_unknown_management_request_closes_the_connection(device, management, kind):
    management.write(bytes([kind]))
    assert_closed(management)
    with Management(device) as after:
        assert f"request of unknown type {kind}" in after.log()


def test_other_destination_or_greeting_closes_the_connection(device):
    for greeting in (b"ARTIQ management\n\x01", b"ARTIQ coredev\nxxxxx", b"\0" * 18):
        with Management(device, greeting=None) as client:
            client.write(greeting)
            assert_closed(client)


def test_requests_split_or_joined_are_answered(management):
    request = b"\x0d" + management.pack(b"key") + management.pack(b"value")
    management.write_slowly(request)
    assert management.read(1) == b"\x01"
    management.write(request + b"\x0c" + management.pack(b"key") + b"\x02")
    assert management.read(1) + management.read(1) + management.bytes() + management.read(1) == b"\x01\x07value\x01"


def test_random_bytes_leave_management_usable(device):
    generator = random.Random(1)
    for _ in range(20):
        with Management(device) as client:
            # Excludes Reboot and Flash, which would end the test.
            noise = bytes(b for b in generator.randbytes(200) if b not in (5, 9))
            try:
                client.write(noise)
            except OSError:
                pass
    with Management(device) as after:
        assert after.log()


def test_several_simultaneous_clients_are_answered(device):
    with Management(device) as one, Management(device) as two, Management(device) as three:
        for client, value in ((one, b"1"), (two, b"2"), (three, b"3")):
            assert client.config_write(b"simultaneous", value)
        assert one.config_read(b"simultaneous") == b"3"
        assert two.config_remove(b"simultaneous") and three.config_read(b"simultaneous") is None


def test_failure_reason_is_that_of_the_latest_error(device, management):
    assert management.failure_reason() == ""
    assert management.config_read(b"absent") is None
    assert management.failure_reason() == "configuration: no such key"
    assert not management.config_write(b"log_level", b"loud")
    assert management.failure_reason() == management.failure_reason() == "configuration: log_level: invalid value"
    with Management(device) as other:
        assert other.failure_reason() == ""


def test_unbootable_image_is_refused_with_its_reason(management):
    def flash(image, wrong=0):
        return management.reply(b"\x09" + management.pack(image + struct.pack("<I", zlib.crc32(image) ^ wrong)))

    good = small_image()
    assert flash(good, wrong=1) == 6
    assert management.failure_reason().startswith("boot image not replaced: its checksum is 0x")
    another_chip = struct.pack("<16I", 0xFFFFFFFF, 0xAA995566, 0x30018001, 0x0372C093, *[0x20000000] * 12)
    for image, reason in [
        (b"image", "not a boot image"),
        (good[:0x38] + b"\1" + good[0x39:], "the boot image is damaged: checksum of its header"),
        (good[:-1], "the boot image ends too early"),
        (small_image(bitstream=bytes(64)), "the gateware in it: not a bitstream: it has no sync word"),
        (
            small_image(bitstream=another_chip),
            "the gateware in it: this bitstream is for the XC7Z030, this chip is the XC7Z045",
        ),
    ]:
        for refused in (flash(image) == 6, not management.config_write(b"boot", image)):
            assert refused
            assert management.failure_reason() == f"boot image not replaced: {reason}"
        assert management.log().splitlines()[-1].endswith(management.failure_reason())
    assert management.reply(b"\x09" + management.pack(b"abc")) == 6
    assert_closed(management)


def test_reboot_and_flash_restart_and_keep_configuration(device):
    for request in (b"\x05", b"\x09" + Management.pack(small_image() + struct.pack("<I", zlib.crc32(small_image())))):
        starts = device.uart().count("Ethernet link up")
        with Management(device) as client:
            assert client.config_write(b"before", b"reboot")
            assert client.reply(request) == 3
            assert_closed(client)
        printed(device, "Ethernet link up", starts + 1)
        with Management(device) as client:
            assert client.config_read(b"before") == b"reboot"


def test_device_without_card_runs_with_defaults(tmp_path, start_device):
    device = start_device(tmp_path, gateware=False)
    try:
        with Management(device) as client:
            assert "no SD card" in client.log()
            assert client.config_read(b"ip") is None
            assert client.config_write(b"ip", b"1.2.3.4") is False
            assert client.config_remove(b"ip") is False
            assert client.reply(b"\x0f") == 6
    finally:
        device.close()


def test_analyzer_and_monitor_answer_without_gateware(tmp_path, start_device):
    device = start_device(tmp_path, gateware=False)
    try:
        with Connection(device, 1382) as client:
            assert client.read_all() == b"e" + bytes(14) + b"\x01"
        with Client(device) as client:
            client.inject(5, 1, 1)
            assert client.get(5, 1) == 0
    finally:
        device.close()


def test_network_settings_on_the_card_are_used(tmp_path, start_device):
    text = b"ip=10.0.2.15/24\nmac=02:11:22:33:44:55\nip6=fd00::15/64\nuart_log_level=WARN\nlog_level=loud\n"
    card = sd_card.make(tmp_path / "card", [(b"CONFIG  TXT", text)])
    device = start_device(tmp_path, gateware=False, sd=card)
    try:
        with Management(device) as client:
            log = client.log()
        assert "network: 10.0.2.15/24, fd00::15/64" in log
        assert "log_level=loud is invalid" in log
        assert "fd00::15" not in device.uart()
    finally:
        device.close()
