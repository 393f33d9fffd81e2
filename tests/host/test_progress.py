"""Progress bars of long operations: shown on terminals after a second, removed at the end."""

import io
import socket
import sys
import threading
import time

import pytest

from kairos import progress
from kairos.progress import PIECE, Progress, send


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """The clock used by progress bars; `clock[0]` in seconds."""
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def shown(monkeypatch, clock, stream, quiet=False, seconds=2.0):
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress(quiet) as bar:
        bar("firmware", 250_000, 1_000_000)
        clock[0] += seconds
        bar("firmware", 500_000, 1_000_000)
    return stream.getvalue()


def test_terminal_progress_bar_is_removed_at_the_end(monkeypatch, clock):
    text = shown(monkeypatch, clock, Terminal())
    assert "firmware:" in text and " 50%" in text and "500k/1.00M" in text
    assert "\n" not in text and text.endswith("\r") and text.rstrip("\r").endswith(" ")


def test_progress_bar_needs_terminal_and_time(monkeypatch, clock):
    assert shown(monkeypatch, clock, io.StringIO()) == ""
    assert shown(monkeypatch, clock, Terminal(), quiet=True) == ""
    assert shown(monkeypatch, clock, Terminal(), seconds=0.9) == ""


def test_send_with_progress_transmits_all_bytes(monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", Terminal())
    data = bytes(range(256)) * (100 * PIECE // 256) + b"end"
    ours, theirs = socket.socketpair()
    got = bytearray()

    def take():
        while piece := theirs.recv(65536):
            got.extend(piece)
            clock[0] += 1

    reader = threading.Thread(target=take)
    reader.start()
    with ours:
        send(ours, data, "image")
        send(ours, b"few", "image")
    reader.join()
    theirs.close()
    assert got == data + b"few"
    assert "image:" in sys.stderr.getvalue()


def test_message_of_a_usual_size_is_handed_over_in_one_piece():
    """An emulated device that finds the second part of a message later has another time."""
    ours, theirs = socket.socketpair()
    sizes = []

    class Socket:
        def send(self, data):
            sizes.append(len(data))
            return ours.send(data)

    with ours, theirs:
        send(Socket(), bytes(100_000), "library")
        assert sizes == [100_000]


def test_slow_receiver_is_served_beyond_the_timeout_of_one_piece():
    ours, theirs = socket.socketpair()
    ours.settimeout(0.5)
    for end, option in ((ours, socket.SO_SNDBUF), (theirs, socket.SO_RCVBUF)):
        end.setsockopt(socket.SOL_SOCKET, option, PIECE)
    data = bytes(16 * PIECE)
    got = bytearray()

    def take():
        while piece := theirs.recv(PIECE):
            got.extend(piece)
            time.sleep(0.06)

    reader = threading.Thread(target=take)
    reader.start()
    with ours:
        send(ours, data, "image")
    reader.join()
    theirs.close()
    assert got == data
