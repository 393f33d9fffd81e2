"""Connecting to a device that is restarting, as sockets see it."""

import socket
import threading
import time

import pytest

from kairos.network.connect import ATTEMPT, REFUSED, ClosedAtOnce, connect


def serve(answers):
    """A port whose n-th connection gets the n-th answer: bytes, None for silence, b"" for the end."""
    listener = socket.create_server(("127.0.0.1", 0))
    kept = []

    def run():
        with listener:
            for answer in answers:
                client, _ = listener.accept()
                kept.append(client)
                assert client.recv(16) == b"hello"
                if answer is not None:
                    client.sendall(answer)
                    client.close()

    port = listener.getsockname()[1]
    threading.Thread(target=run, daemon=True).start()
    return port


@pytest.mark.parametrize("before", [[], [None], [b"", b""]])
def test_it_tries_again(before):
    connection, answer = connect("127.0.0.1", serve([*before, b"e"]), b"hello", patience=3 * ATTEMPT)
    connection.close()
    assert answer == b"e"


@pytest.mark.parametrize(
    ("answers", "error", "seconds"),
    [
        ([None] * 9, TimeoutError, 1.5 * ATTEMPT),
        ([b""] * 99, ClosedAtOnce, REFUSED),
        ([], ConnectionRefusedError, REFUSED),
    ],
)
def test_it_ends(answers, error, seconds):
    began = time.monotonic()
    with pytest.raises(error):
        connect("127.0.0.1", serve(answers), b"hello", patience=max(1.5 * ATTEMPT, seconds))
    assert seconds - 0.3 < time.monotonic() - began < seconds + 1


def test_what_does_not_pass_is_said_at_once():
    began = time.monotonic()
    with pytest.raises(socket.gaierror):
        connect("no such host", 1, b"hello", patience=60)
    assert time.monotonic() - began < 5
