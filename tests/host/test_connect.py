"""Connections to a restarting device, at socket level."""

import socket
import threading
import time

import pytest

from kairos.network.connect import ATTEMPT, REFUSED, ClosedAtOnce, connect
from tests.support import TIMEOUT


def serve(answers):
    """Returns a port whose n-th connection gets the n-th answer: bytes, None for silence, b"" to close."""
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
def test_connection_is_retried_until_an_answer(before):
    connection, answer = connect("127.0.0.1", serve([*before, b"e"]), b"hello", patience=3 * ATTEMPT)
    connection.close()
    assert answer == b"e"


@pytest.mark.parametrize(
    ("answers", "error", "seconds", "patience"),
    [
        ([None] * 9, TimeoutError, 1.5 * ATTEMPT, 1.5 * ATTEMPT),
        ([b""] * 999, ClosedAtOnce, REFUSED, TIMEOUT),
        ([], ConnectionRefusedError, REFUSED, TIMEOUT),
    ],
)
def test_connection_fails_only_after_its_patience(answers, error, seconds, patience):
    """The attempt does not give up early; refused connections fail before the timeout."""
    began = time.monotonic()
    with pytest.raises(error):
        connect("127.0.0.1", serve(answers), b"hello", patience=patience)
    lasted = time.monotonic() - began
    # The last pause is skipped if no time is left for another attempt.
    assert seconds - 0.3 < lasted and (patience == seconds or lasted < patience)


def test_connection_with_permanent_error_fails_at_once():
    began = time.monotonic()
    with pytest.raises(socket.gaierror):
        connect("no such host", 1, b"hello", patience=TIMEOUT)
    assert time.monotonic() - began < TIMEOUT
