"""Connections whose clients say nothing: they cost nobody else a place, and the hub no file that it needs itself."""

import resource
import socket
import time

import kairos.hub
from kairos.hub import HubError
from tests.support.hub import Hub, known
from tests.support.waiting import until

FILES = 64
"""Open files that this hub may have; half of them are for clients."""
GREETING = 5.0
"""Seconds that a client has to begin."""


def test_who_says_nothing_is_let_go(device, tmp_path):
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
            silent = [socket.create_connection((host, int(port)), timeout=2 * GREETING) for _ in range(2 * FILES)]
            until(lambda: "too many connections" in (tmp_path / "hub.log").read_text())
            # Whoever was there before is served, and the hub has files for others.
            assert lab["demo"].read("rtio/outputs") == [13]
            assert lab["demo"].waveforms.status().machine_hertz == 1e9 and lab["demo"].waveforms.read() is not None
            assert [connection.recv(1) for connection in silent] == [b""] * len(silent)
            assert GREETING - 1 < time.monotonic() - begun < 3 * GREETING
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
