"""A device with a key: its answers byte for byte, with and without the key, and `kairos device --key`."""

import hmac
import time

import pytest

from tests.support import TIMEOUT, sd_card
from tests.support.boot_images import small_image
from tests.support.command import run_kairos
from tests.support.connection import Closed
from tests.support.kernels import run_empty
from tests.support.raw_management import Management
from tests.support.raw_session import Session
from tests.support.waiting import patiently

KEY = b"sixteen bytes or more"
REQUESTS = [
    bytes([1]),
    bytes([2]),
    bytes([5]),
    bytes([7]),
    bytes([8]),
    b"\x09" + Management.pack(b"image and checksum"),
    b"\x0c" + Management.pack(b"ip"),
    b"\x0d" + Management.pack(b"ip") + Management.pack(b"1.2.3.4"),
    b"\x0e" + Management.pack(b"auth_key"),
    bytes([15]),
    bytes([128]),
]


def challenge(client):
    assert client.reply(b"\x81") == 128
    return client.read(32)


def proof(nonce, key=KEY):
    return b"\x82" + hmac.digest(key, b"KAIROS management\n" + nonce, "sha256")


def authenticate(client):
    assert client.reply(proof(challenge(client))) == 1


def assert_refused(client, request):
    assert client.reply(request) == 6
    with pytest.raises(Closed):
        client.read(1)


def start(start_device, directory, text):
    card = sd_card.make(directory / "card", [(b"CONFIG  TXT", text)])
    return start_device(directory, gateware=False, sd=card)


@pytest.fixture(scope="module")
def device(tmp_path_factory, start_device):
    device = start(start_device, tmp_path_factory.mktemp("device"), b"auth_key=" + KEY + b"\r\nip=10.0.2.15/24\n")
    yield device
    device.close()


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: str(request[0]))
def test_request_without_proof_is_refused(device, request_):
    with Management(device) as client:
        authenticate(client)
        before = client.log()
    with Management(device) as client:
        assert_refused(client, request_)
    with Management(device) as client:
        authenticate(client)
        new = client.log().removeprefix(before)
    with Management(device) as client:
        authenticate(client)
        assert new.count("\n") == 1 and "WARN" in new and "this device requires its key first" in new
        assert client.config_read(b"ip") == b"10.0.2.15/24"


@pytest.mark.parametrize(
    "answer",
    [
        lambda nonce: proof(nonce, b"another sixteen bytes"),
        lambda nonce: proof(bytes(32)),
        # The proof for the loader of this device.
        lambda nonce: b"\x82" + hmac.digest(KEY, nonce, "sha256"),
        lambda nonce: b"\x82" + bytes(32),
        # Correct except for the last bit.
        lambda nonce: proof(nonce)[:-1] + bytes([proof(nonce)[-1] ^ 1]),
    ],
)
def test_wrong_proof_is_refused_and_connection_closed(device, answer):
    with Management(device) as client:
        assert_refused(client, answer(challenge(client)))


def test_nonce_is_valid_for_one_proof_of_one_connection(device):
    with Management(device) as client:
        assert_refused(client, proof(bytes(32)))
    with Management(device) as client, Management(device) as other:
        old = challenge(client)
        new = challenge(client)
        assert len({old, new, challenge(other)}) == 3
        assert_refused(other, proof(new))
        assert_refused(client, proof(old))
    with Management(device) as client:
        right = proof(challenge(client))
        assert client.reply(right) == 1
        assert client.log()
        assert_refused(client, right)


def test_authentication_arriving_in_pieces_is_accepted(device):
    with Management(device) as client:
        client.write_slowly(proof(challenge(client)))
        assert client.read(1) == b"\x01"
        assert client.config_read(b"ip") == b"10.0.2.15/24"


@pytest.mark.parametrize("key", [b"auth_key", b"AUTH_KEY", b"auth_k~1"])
def test_stored_key_cannot_be_read(device, key):
    with Management(device) as client:
        authenticate(client)
        assert client.config_read(key) is None


def test_session_without_key_is_accepted(device):
    with Session(device) as session:
        run_empty(session)


def test_time_without_a_client_is_not_made_up_for_in_the_next_ones(device):
    """The device would close a connection for silence that was before it."""

    def device_time():
        return device.control("status")["time_ns"] / 1e9

    def wait_for(end):
        patience = time.monotonic() + TIMEOUT
        while device_time() < end:
            assert time.monotonic() < patience, "the device's time stands still"
            time.sleep(0.01)

    with Management(device):
        wait_for(device_time() + 0.1)  # with the wall clock
    time.sleep(1)
    begun, before = time.monotonic(), device_time()
    with Management(device):
        wait_for(before + 0.2)
        assert device_time() - before <= time.monotonic() - begun + 0.1


@pytest.mark.long
def test_clients_without_the_key_leave_no_sockets_occupied(device):
    idle = [Management(device, greeting=None), *(Management(device) for _ in range(3))]
    idle[0].write(b"ARTIQ management\n")
    # All sockets are in use. A client connecting now would stop the emulated clock.
    for client in idle:
        client.read_all()
    with Management(device) as client:
        authenticate(client)
        assert "it did not authenticate in time" in client.log()
    for client in idle:
        client.close()
    # The device has noticed it before the next test connects.
    for client in [patiently(lambda: Management(device)) for _ in range(3)]:
        client.close()


def test_key_is_set_changed_and_removed_by_clients(start_device, tmp_path):
    device = start(start_device, tmp_path, b"")
    try:
        for kind in (0x81, 0x82):
            with Management(device) as client:
                client.write(bytes([kind]))
                with pytest.raises(Closed):
                    client.read(1)
        with Management(device) as client:
            assert f"request of unknown type {0x82}" in client.log()
            for bad in (b"too short", b"x" * 65):
                assert client.config_write(b"auth_key", bad) is False
            assert client.config_write(b"auth_key", KEY + b"\n")
            # The earlier client continues.
            assert client.config_write(b"log_level", b"INFO")
        with Management(device) as client:
            assert_refused(client, b"\x01")
        with Management(device) as client:
            authenticate(client)
            assert client.config_write(b"auth_key", bytes(range(33, 97)))
        with Management(device) as client:
            assert_refused(client, proof(challenge(client)))
        with Management(device) as client:
            assert client.reply(proof(challenge(client), bytes(range(33, 97)))) == 1
            assert client.config_remove(b"auth_key")
        with Management(device) as client:
            assert client.log()
    finally:
        device.close()


def test_nonces_differ_after_a_restart(start_device, tmp_path):
    """The emulated time is the same in each run: only the state stored on the card differs."""
    card = sd_card.make(tmp_path / "card", [(b"CONFIG  TXT", b"auth_key=" + KEY)])
    nonces = []
    for number in range(3):
        directory = tmp_path / str(number)
        directory.mkdir()
        device = start_device(directory, gateware=False, sd=card)
        try:
            with Management(device) as client:
                nonces += [challenge(client) for _ in range(3)]
        finally:
            device.close()
    assert len(set(nonces)) == 9


@pytest.mark.parametrize("key", [b"short", b"x" * 65, b"y" * 1000])
def test_invalid_key_on_the_card_closes_management(start_device, tmp_path, key):
    device = start(start_device, tmp_path, b"auth_key=" + key + b"\n")
    try:
        with Management(device) as client:
            assert_refused(client, b"\x01")
        with Management(device) as client:
            assert_refused(client, b"\x81")
        with Management(device) as client:
            assert_refused(client, proof(bytes(32), key))
        assert "all management clients are refused" in device.uart()
        assert key.decode() not in device.uart()
    finally:
        device.close()


def kairos(device, *arguments):
    return run_kairos("device", "-D", f"{device.host}:{device.ports[1380]}", *arguments)


def assert_one_line(done, text):
    assert done.returncode == 1 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and text in done.stderr, done.stderr


def test_device_command_uses_key_or_reports_its_absence(device, start_device, tmp_path):
    (tmp_path / "key").write_bytes(KEY + b"\n")
    (tmp_path / "wrong").write_bytes(b"another sixteen bytes")
    (tmp_path / "short").write_bytes(b"short")
    done = kairos(device, "--key", tmp_path / "key", "config", "read", "-s", "ip")
    assert (done.returncode, done.stdout) == (0, "10.0.2.15/24\n"), done.stderr
    assert_one_line(kairos(device, "log"), "requires a key: give its file with --key")
    assert_one_line(kairos(device, "--key", tmp_path / "wrong", "log"), "has a different key")
    assert_one_line(
        kairos(device, "--key", tmp_path / "short", "log"), "a key must have 16 to 64 bytes, this one has 5"
    )
    assert_one_line(kairos(device, "--key", tmp_path / "none", "log"), "cannot be read")
    image = tmp_path / "BOOT.BIN"
    image.write_bytes(small_image() + bytes(5_000_000))
    assert_one_line(kairos(device, "flash", image), "requires a key: give its file with --key")
    (tmp_path / "closed").mkdir()
    closed_device = start(start_device, tmp_path / "closed", b"auth_key=short\n")
    try:
        assert_one_line(kairos(closed_device, "--key", tmp_path / "key", "log"), "refuses all clients")
        assert_one_line(kairos(closed_device, "log"), "requires a key")
    finally:
        closed_device.close()
    open_device = start(start_device, tmp_path, b"ip=10.0.2.15/24\n")
    try:
        assert_one_line(kairos(open_device, "--key", tmp_path / "key", "log"), "if it has no key, omit --key")
        # Failures for other reasons are distinguished from a missing key.
        assert_one_line(kairos(open_device, "config", "read", "-s", "nothing"), "there is no such key")
    finally:
        open_device.close()
