"""A user's first commands: `kairos new --hub`, `kairos emulate`, `kairos hub`, with the generated
files."""

import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest

import kairos.hub
from kairos.cli.hub_settings import APART
from tests.support import TIMEOUT
from tests.support.command import first_line, run_kairos
from tests.support.hub import HUB, Hub, known

CORE = '{"type": "local", "module": "artiq.coredevice.core", "class": "Core", "arguments": {"host": "emulator://demo"}}'


@contextmanager
def started(folder, *words):
    """A subcommand that runs until Ctrl-C; its process, and its first line."""
    with (folder / "errors").open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "kairos", *words],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
    try:
        line = first_line(process)
        assert line, (folder / "errors").read_text()
        yield line
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(TIMEOUT)
        process.stdout.close()


def free_number():
    """Return the number of an emulated device of a database whose ports are free."""
    for number in range(3, 50):
        try:
            for port in range(1380, 1384):
                with socket.socket() as attempt:
                    attempt.bind(("127.0.0.1", port + number * APART))
            return number
        except OSError:
            continue
    raise AssertionError("all ports are taken")


def test_generated_settings_file_is_accepted(tmp_path):
    number = free_number()
    names = [f"core{each}" for each in range(number + 1)]
    # Equal entries would be merged.
    entries = ", ".join(f"{name!r}: {CORE.replace('demo', f'demo{each}')}" for each, name in enumerate(names))
    (tmp_path / "device_db.py").write_text(f"device_db = {{{entries}}}")
    done = run_kairos("new", "--hub", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    start = re.search(rf"core{number} is emulated: start it with 'kairos (.*)'", done.stdout)[1]
    with started(tmp_path, "emulate", "demo", *start.split()[2:]) as line:
        assert f"127.0.0.1:{1381 + number * APART}" in line
        with started(tmp_path, "hub", "--listen", "127.0.0.1:0") as line:
            with kairos.hub.connect(line.split()[-1]) as lab:
                known(lab, names[-1])
                assert list(lab) == names and lab[names[-1]].registers.rtio.outputs.read() == 13
                # Its own analyzer answers.
                assert {event.kind for event in lab[names[-1]].waveforms.read()} <= {"stopped"}


def test_commented_settings_of_generated_file_are_valid(tmp_path):
    (tmp_path / "device_db.py").write_text(f'device_db = {{"core": {CORE}}}')
    assert run_kairos("new", "--hub", cwd=tmp_path).returncode == 0
    text = (tmp_path / "hub.toml").read_text()
    everything = re.sub(r"^# (?=\[|\w+ = )", "", text, flags=re.MULTILINE)
    keys = {"listen", "state", "certificate_file", "key_file", "name", "role", "sha256", "address"}
    keys |= {"layer", "command", "protocol", "memory_mb", "patience_s", "register", "settings"}
    assert set(re.findall(r"^(\w+) = ", everything, re.MULTILINE)) == keys
    (tmp_path / "hub.toml").write_text(everything)
    done = subprocess.run([HUB, "hub.toml"], cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT)
    # All of it is understood; only the files that it names are missing.
    assert done.returncode == 1 and done.stderr == "kairos: hub.toml: [tls]: hub.crt cannot be read: " + (
        "No such file or directory (os error 2)\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "hub.toml does not exist: 'kairos new --hub' creates it for the devices in device_db.py"),
        ("[[device]]\nname = 'a'\nadress = 'lab'\n", "hub.toml: line 3: unknown field `adress`, expected one of"),
        ("[[device]\n", "hub.toml: line 1: unclosed array table"),
        ("listen = 'here'\n", "hub.toml: line 1: 'here' is not an address and port"),
        ("", "hub.toml: there is no [[device]]"),
    ],
)
def test_invalid_settings_file_is_reported_in_one_line(tmp_path, text, said):
    if text is not None:
        (tmp_path / "hub.toml").write_text(text)
    done = run_kairos("hub", cwd=tmp_path)
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.startswith(f"kairos: {said}") and len(done.stderr.splitlines()) == 1, done.stderr


def test_unreachable_hub_is_reported_in_one_line(tmp_path):
    hub = Hub(tmp_path, {"away": "127.0.0.1:9"})
    asking = [sys.executable, "-m", "kairos", "hub", "ls", "--hub", hub.address]
    assert subprocess.run(asking, capture_output=True, timeout=TIMEOUT).returncode == 0
    hub.process.kill()
    hub.process.wait()
    hub.process.stdout.close()
    done = subprocess.run(asking, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 1 and not done.stdout
    assert (
        done.stderr
        == f"kairos: no hub answers at {hub.address}, where nothing listens: is 'kairos hub' running there?\n"
    )
