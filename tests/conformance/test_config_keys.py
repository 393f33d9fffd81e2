"""Every configuration key (wire protocols, section 6): its effect, and the effect of invalid values.

`rtio_clock`: test_clock.py; startup and idle kernel: test_standalone.py; DHCP and IPv6: test_network.py.
"""

import struct

import pytest

from tests.support import sd_card
from tests.support.boot_images import small_image
from tests.support.kernels import run_dma, run_empty
from tests.support.raw_management import Management
from tests.support.raw_session import Session
from tests.support.waiting import settled

DMA_UNREACHABLE = 8
"""Operation of the kernel `dma`."""


class Configured:
    """Successive devices with the same card."""

    def __init__(self, start_device, directory):
        self.start_device, self.directory = start_device, directory
        self.card = sd_card.make(directory / "card", [])
        self.device = None

    def start(self, text=None, gateware=False, **keys):
        """Starts a device with this CONFIG.TXT, with these keys, or with the card unchanged."""
        if text is not None:
            sd_card.make(self.card, [(b"CONFIG  TXT", text)])
        if keys:
            self.start()
            with Management(self.device) as client:
                assert all(client.config_write(key.encode(), value) for key, value in keys.items())
        self.close()
        self.device = self.start_device(self.directory, gateware=gateware, sd=self.card)
        return self.device

    def log(self):
        with Management(self.device) as client:
            return client.log()

    def close(self):
        if self.device:
            self.device.close()
            self.device = None


@pytest.fixture
def configured(start_device, tmp_path):
    one = Configured(start_device, tmp_path)
    yield one
    one.close()


def is_reached(device):
    with Session(device) as session:
        run_empty(session)
    return True


@pytest.mark.parametrize(
    "text, line",
    [
        # Without a prefix length all addresses are on-link.
        (b"ip=10.0.2.15\n", "network: 10.0.2.15/0, fe80"),
        (b"ip=10.0.2.15/24\r\nipv4_default_route=10.0.2.2 \r\n", "network: 10.0.2.15/24, gateway 10.0.2.2, fe80"),
        (b"IP=10.0.2.15/24\n", "network: 10.0.2.15/24, fe80"),
        (b"ip=10.0.2.15/24", "network: 10.0.2.15/24, fe80"),
        (b"ip=10.0.2.15/33\n", "network: 10.0.2.15/24, gateway 10.0.2.2, fe80"),
        (b"", "network: 10.0.2.15/24, gateway 10.0.2.2, fe80"),
    ],
)
def test_ip_and_default_route_settings_are_used(configured, text, line):
    assert is_reached(configured.start(text))
    assert line in configured.log()


def test_mac_setting_determines_hardware_and_link_local_address(configured):
    """The controller receives frames to this address, and the link-local address is derived from it."""
    assert is_reached(configured.start(b"mac=02-11-22-33-44-55\n"))
    assert "fe80::11:22ff:fe33:4455/10" in configured.log()


@pytest.mark.parametrize(
    "key, value",
    [
        ("ip", b"10.0.2.300"),
        ("ip", b"USE_DHCP"),
        ("ipv4_default_route", b"10.0.2.2/24"),
        ("ip6", b"fd00::15/200"),
        ("ipv6_default_route", b"fe80"),
        ("mac", b"03:00:00:00:00:01"),
    ],
)
def test_invalid_settings_are_ignored_with_a_log_line(configured, key, value):
    assert is_reached(configured.start(**{key: value}))
    assert f"WARN(comms::config): configuration: {key}={value.decode()} is invalid and ignored" in configured.log()


def test_binary_or_too_long_settings_are_ignored_with_a_log_line(configured):
    assert is_reached(configured.start(ip=b"\xff\xfe", mac=b"x" * 500))
    log = configured.log()
    assert "configuration: ip is not text and is ignored" in log
    assert "configuration: mac: the value is too long" in log


def test_log_levels_on_the_card_are_used_from_boot(configured):
    device = configured.start(b"log_level=warn\nuart_log_level=OFF\n")
    # Lines before the card is read are not filtered; the network starts after that.
    assert "network: " not in configured.log()
    before = device.uart()
    with Management(device) as client:
        client.write(b"\x04")
    assert "unknown type 4" in configured.log()
    assert device.uart() == before


def test_changed_uart_level_takes_effect_at_once(configured):
    device = configured.start()

    def is_printed(kind):
        with Management(device) as client:
            client.write(bytes([kind]))
        text = f"request of unknown type {kind}"
        assert text in configured.log()
        settled(device)
        return text in device.uart()

    with Management(device) as client:
        assert is_printed(3)
        assert client.config_write(b"uart_log_level", b"error")
        assert not is_printed(4)
        assert client.config_write(b"uart_log_level", b"loud") is False
        assert client.config_remove(b"uart_log_level")
        assert is_printed(6)


def device_map(*entries):
    packed = [struct.pack("<II", channel, len(name)) + name for channel, name in entries]
    return struct.pack("<I", len(entries)) + b"".join(packed)


def unreachable(device):
    """Returns the message of an exception about channel 999."""
    with Session(device) as session:
        marked, exception = run_dma(session, DMA_UNREACHABLE)
    assert marked == [] and exception[0] == 2
    return exception[1]


def test_device_map_names_channels_after_the_next_boot(configured):
    names = device_map((4, b"ttl"), (999, "Käfig".encode()), (4, b"other"), (0x10004, b"far"))
    assert "0x03e7:Käfig" in unreachable(configured.start(device_map=names, gateware=True))
    assert "device_map has several names for channel 0x0004: the last one is used" in configured.log()
    with Management(configured.device) as client:
        assert client.config_read(b"device_map") == names
        assert client.config_remove(b"device_map")
    # The removal takes effect at the next boot: then only the gateware's own names are used.
    assert "0x03e7:Käfig" in unreachable(configured.device)
    assert "0x03e7:unknown" in unreachable(configured.start(gateware=True))


@pytest.mark.parametrize(
    "value",
    [b"x", device_map((999, b"name"))[:-1], device_map((999, b"name")) + b"\0", device_map((999, b"\xff"))],
    ids=["short", "cut", "long", "not text"],
)
def test_malformed_device_map_is_ignored_with_a_log_line(configured, value):
    assert "0x03e7:unknown" in unreachable(configured.start(device_map=value, gateware=True))
    assert "configuration: device_map is ignored: it is not in the format of a device map" in configured.log()


def test_too_long_device_map_is_ignored_with_a_log_line(configured):
    value = device_map(*[(channel, b"x" * 60) for channel in range(1000)])
    assert "0x03e7:unknown" in unreachable(configured.start(device_map=value, gateware=True))
    assert "device_map: the value is too long, the limit is 65532 bytes" in configured.log()


def test_boot_image_can_be_written_but_not_read(configured):
    image = small_image(bytes(range(256)) * 8)
    device = configured.start()
    with Management(device) as client:
        assert client.config_write(b"boot", image)
        assert client.config_read(b"boot") is None
        assert client.config_remove(b"boot") is False
        assert client.reply(b"\x0f") == 1
    configured.close()
    card = configured.card.read_bytes()
    assert b"BOOT    BIN" in card and image in card


@pytest.mark.parametrize("key", [b"net_trace", b"panic_reset", b"no_flash_boot", b"sed_spread_enable"])
def test_keys_without_effect_are_stored(configured, key):
    """The first three are not used on Zynq; the RTIO core always spreads events over its lanes."""
    device = configured.start(**{key.decode(): b"1"})
    with Management(device) as client:
        assert client.config_read(key) == b"1"
