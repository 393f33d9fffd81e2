"""Idle connections: those of clients, which take no places from others, and no file that the hub
needs itself; those of a hub, whose clients notice."""

import resource
import signal
import socket
import time

import pytest

import kairos.hub
from kairos.hub import HubError
from tests.support import TIMEOUT
from tests.support.hub import Hub, board_entry, known
from tests.support.waiting import until

FILES = 64
"""Maximum open files of this hub; half of them are for clients."""
BOARD = board_entry(pair=("memory", "size = 8\nregisters = [{ name = 'first', offset = 0 }]"))
GREETING = 5.0
"""Seconds within which a client has to begin."""


def test_silent_connections_are_closed_and_others_served(device, tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))
    try:
        hub = Hub(tmp_path, {"demo": device})
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    host, port = hub.address.split(":")
    silent = []
    try:
        with kairos.hub.connect(hub.address) as lab:
            known(lab, "demo")
            begun = time.monotonic()
            silent = [socket.create_connection((host, int(port)), timeout=TIMEOUT) for _ in range(2 * FILES)]
            until(lambda: "too many connections" in (tmp_path / "hub.log").read_text())
            # Earlier clients are served, and the hub has files for others.
            assert lab["demo"].read("rtio/outputs") == [13]
            assert lab["demo"].waveforms.status().machine_hertz == 1e9 and lab["demo"].waveforms.read() is not None
            assert [connection.recv(1) for connection in silent] == [b""] * len(silent)
            assert time.monotonic() - begun > GREETING - 1
        until(lambda: serves(hub))
    finally:
        for connection in silent:
            connection.close()
        hub.close()


def serves(hub):
    try:
        with kairos.hub.connect(hub.address, timeout=2) as lab:
            return list(lab) == ["demo"]
    except HubError as error:
        assert error.code in ("UNAVAILABLE", "DEADLINE_EXCEEDED"), error
        return False


def test_silent_hub_is_detected_by_client(tmp_path, monkeypatch):
    """As with a broken network: the connection is open, and nothing arrives."""
    monkeypatch.setattr(kairos.hub.client, "PING", 0.5)
    (tmp_path / "memory").write_bytes(bytes(8))
    hub = Hub(tmp_path, {}, entries=BOARD)
    try:
        with kairos.hub.connect(hub.address, timeout=4) as lab:
            known(lab, "rack")
            readings = lab["rack"].watch("pair/first", period=0.05)
            assert next(readings)[1] == [0]
            hub.process.send_signal(signal.SIGSTOP)
            with pytest.raises(HubError, match="no hub answers at") as failed:
                for _ in readings:
                    pass
            assert failed.value.code == "UNAVAILABLE"
            with pytest.raises(HubError, match="has not answered in time|no hub answers"):
                lab["rack"].read("pair/first")
            hub.process.send_signal(signal.SIGCONT)
            until(lambda: answers(lab))
    finally:
        hub.process.send_signal(signal.SIGCONT)
        hub.close()


def answers(lab):
    try:
        return lab["rack"].read("pair/first") == [0]
    except HubError:
        return False
