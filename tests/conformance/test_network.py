"""Addresses of a device: fixed, DHCP, IPv6. The emulator's gateway assigns 10.0.2.15 by DHCP."""

import socket
import struct

import pytest

from tests.support import TIMEOUT, sd_card
from tests.support.raw_session import Session


class Address:
    """One address of a device, in the form that a session accepts."""

    def __init__(self, port):
        self.host, self.ports = "127.0.0.1", {1381: port}


def reaches(port):
    """Returns whether the kernel service answers at this port."""
    with Session(Address(port)) as session:
        session.send(3)
        return session.read(9) == b"ZZZZ\x02ARZQ"


@pytest.fixture
def start(start_device, tmp_path):
    """Starts a device with the text of its CONFIG.TXT and forwarded ports; closes it at the end."""
    devices = []

    def start(config, forwards=()):
        card = sd_card.make(tmp_path / "card", [(b"CONFIG  TXT", config)])
        devices.append(start_device(tmp_path, gateware=False, sd=card, forwards=forwards))
        return devices[-1]

    yield start
    for device in devices:
        device.close()


def test_address_assigned_by_dhcp_is_reachable(start):
    device = start(b"ip=use_dhcp\n")
    assert reaches(device.port)
    assert "address by DHCP" in device.uart()


@pytest.mark.parametrize(
    "config, address",
    [
        (b"", "fe80::4b:41ff:fe49:5201"),
        (b"ip6=fd00::15/64\nipv6_default_route=fe80::2\n", "fd00::15"),
    ],
)
def test_ipv6_address_is_reachable_beside_ipv4(start, config, address):
    device = start(config, [f"0:[{address}]:1381"])
    assert reaches(device.ports[f"[{address}]:1381"])
    # The other address family still works.
    assert reaches(device.port)


@pytest.mark.parametrize(
    "port, places, greeting, answer",
    [
        (1380, 4, b"ARTIQ management\n\0", b"e"),
        (1381, 4, b"ARTIQ coredev\n", b"e"),
        # Sends nothing.
        (1382, 4, b"", b"e"),
        # Answers a request for an override.
        (1383, 3, b"ARTIQ moninj\n" + struct.pack("<BIB", 2, 0, 0), b"\x01"),
    ],
)
def test_simultaneous_connections_are_all_accepted(start, port, places, greeting, answer):
    """All connections are accepted before any of them is served."""
    device = start(b"")
    clients = [socket.socket() for _ in range(places)]
    for client in clients:
        client.setblocking(False)
        client.connect_ex(("127.0.0.1", device.ports[port]))
    for client in clients:
        client.settimeout(TIMEOUT)
        client.sendall(greeting)
    for client in clients:
        assert client.recv(1) == answer
        client.close()
