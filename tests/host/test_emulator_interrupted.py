"""A signal at any instant: who asks the emulator again gets the answer."""

import json
import socket
import threading

import pytest

from kairos.emulator import control, lines, process

READY = '{"event": "ready", "forwards": {"1381": 4000}, "wall_s": 0.2, "time_ns": 1}\n'


def interrupted_once(monkeypatch, module, result):
    """Have the next JSON text of a module be interrupted after it has been taken."""
    calls = []

    def loads(text):
        calls.append(text)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return json.loads(text)

    monkeypatch.setattr(module, "json", type("J", (), {"loads": staticmethod(loads), "dumps": json.dumps}))
    with pytest.raises(KeyboardInterrupt):
        result()
    return result()


def test_ready_emulator_after_an_interruption_is_still_ready(monkeypatch):
    monkeypatch.setattr(process, "READY_TIMEOUT", 0.1)
    device = process.Emulator.__new__(process.Emulator)
    device.variant = "demo"
    device._booting, device._ready, device._unready = threading.Lock(), None, None
    device._said = lines.Lines()
    device._said.read([READY])
    assert interrupted_once(monkeypatch, process, device.wait_ready)["forwards"] == {"1381": 4000}


class Interrupted:
    """A socket of which a signal interrupts the first receipt, behind `taken` bytes."""

    def __init__(self, real, taken):
        self._real, self._taken = real, taken

    def __getattr__(self, name):
        return getattr(self._real, name)

    def recv(self, size):
        taken, self._taken = self._taken, None
        if taken is None:
            return self._real.recv(size)
        if taken:
            self._real.recv(taken)
        raise KeyboardInterrupt


@pytest.mark.parametrize("taken", [0, 1, 9, len('{"id": 1, "state": "running"}\n')])
def test_reply_after_an_interruption_is_that_of_its_request(taken):
    near, far = socket.socketpair()
    with near, far:
        connection = control.Control(Interrupted(near, taken), 1, timeout=5.0)
        far.sendall(b'{"id": 1, "state": "running"}\n')
        with pytest.raises(KeyboardInterrupt):
            connection.request("status")
        far.sendall(b'{"id": 2, "state": "idle"}\n')
        assert connection.request("status") == {"id": 2, "state": "idle"}
