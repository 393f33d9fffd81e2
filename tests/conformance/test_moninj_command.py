"""`kairos moninj` on an emulated device."""

import signal
import subprocess
import sys

import pytest

from tests.support import TIMEOUT
from tests.support.command import one_line
from tests.support.paths import EXAMPLES
from tests.support.raw_moninj import Client

OUTPUT = 4


def command(address, *arguments):
    database = EXAMPLES / "device_db.py"
    options = ["--device", address, "--device-db", database]
    return [str(word) for word in (sys.executable, "-m", "kairos", "moninj", *options, *arguments)]


def run(address, *arguments):
    return subprocess.run(command(address, *arguments), capture_output=True, text=True, timeout=TIMEOUT)


@pytest.fixture
def moninj(device):
    """Runs `kairos moninj ...` on the device."""
    return lambda *arguments: run(f"127.0.0.1:{device.ports[1383]}", *arguments)


def overridden(device):
    with Client(device) as client:
        return client.get(OUTPUT, 0), client.get(OUTPUT, 1)


def test_set_and_release_change_the_watched_override(moninj, device):
    assert moninj("watch", "ttl4", "ttl0", "--for", "0.1").stdout.splitlines() == ["ttl4: 0", "ttl0: 0"]
    assert moninj("set", "1", "ttl4").returncode == 0
    assert overridden(device) == (1, 1)
    assert moninj("watch", "4", "--for", "0.1").stdout == "4: 1\n"
    assert moninj("release", "ttl4").returncode == 0
    assert overridden(device)[0] == 0


def test_watch_command_ends_with_ctrl_c(device):
    process = subprocess.Popen(
        command(f"127.0.0.1:{device.ports[1383]}", "watch", "4"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout.readline() == "4: 0\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=TIMEOUT)[1] == "kairos: interrupted\n" and process.returncode == 130


def test_invalid_moninj_commands_are_reported_in_one_line(moninj):
    one_line(moninj("watch", "ttl99"), "there is no device 'ttl99' with a channel")
    one_line(moninj("set", "1", "200"), "'200' cannot be overridden")
    one_line(run("127.0.0.1:1", "watch", "ttl0"), "is the device on?")
