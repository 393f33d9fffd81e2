"""The host's end of network boot without a device: what it says when there is none, or something else."""

import contextlib
import io
import socket
import sys
import threading

import pytest

from kairos.boot import load
from kairos.cli.boot import Progress
from kairos.errors import DeviceUnreachable, KairosError


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_nobody_there():
    with pytest.raises(DeviceUnreachable, match="does the device wait for the network"):
        load("127.0.0.1", b"firmware", port=free_port(), patience=0.5)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "no Kairos loader"),
        (b"\x01\x09\x00" + bytes(32), "speaks version 9"),
        (b"\x01\x01\x01" + bytes(32), "wants a key"),
        (b"\x05\x04\x00busy", "refused by the loader .*: busy"),
    ],
)
def test_something_else_answers(said, reason):
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


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("quiet", "shown"), [(False, True), (True, False)])
def test_progress_is_one_line_on_a_terminal(monkeypatch, quiet, shown):
    monkeypatch.setattr(sys, "stderr", Terminal())
    progress = Progress(quiet)
    progress("firmware", 500_000, 1_000_000)
    progress("firmware", 1_000_000, 1_000_000)
    progress.end()
    text = sys.stderr.getvalue()
    if shown:
        first, second = text.rstrip("\n").split("\r")[1:]
        assert first.count("#") == 20 and second.count("#") == 40 and "1.00 of 1.00 MB" in second
        assert text.count("\n") == 1
    else:
        assert text == ""
