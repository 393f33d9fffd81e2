"""The host side of network boot: its messages when the device is absent or something else answers."""

import contextlib
import socket
import threading

import pytest

from kairos.boot import load
from kairos.errors import DeviceUnreachable, KairosError
from tests.support.ports import free_port


def test_absent_device_is_reported_in_one_line():
    with pytest.raises(DeviceUnreachable, match="is the device waiting for network boot"):
        load("127.0.0.1", b"firmware", port=free_port(), patience=0.5)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "not a Kairos loader"),
        (b"\x01\x09\x00" + bytes(32), "uses protocol version 9"),
        (b"\x01\x01\x01" + bytes(32), "requires a key"),
        (b"\x05\x04\x00busy", "refused by the loader .*: busy"),
    ],
)
def test_reply_of_another_service_is_reported(said, reason):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            client, _ = listener.accept()
            with client:
                client.recv(100)
                client.sendall(said)
                with contextlib.suppress(ConnectionError):
                    client.recv(100)

        threading.Thread(target=serve, daemon=True).start()
        with pytest.raises(KairosError, match=reason):
            load("127.0.0.1", b"firmware", port=listener.getsockname()[1], patience=5)
