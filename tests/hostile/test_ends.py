"""Devices killed or restarted at any instant, slow clients, damaged files: each yields one clear
message, and no saved data is lost."""

import json
import os
import random
import signal
import socket
import subprocess
import threading
import time

import h5py
import pytest

from kairos.contracts import analyzer, management, moninj, session
from tests.support import TIMEOUT
from tests.support.command import one_line, run_kairos
from tests.support.paths import EXAMPLES

COUNTING = """
    def report(self, number):
        self.set_dataset("count", number, persist=True)
        print(number, flush=True)

    @kernel
    def run(self):
        self.core.reset()
        for i in range(1000000):
            self.core.break_realtime()
            self.ttl4.pulse(1*us)
            self.report(i)
"""
ALIVE = """
    @kernel
    def run(self):
        self.core.reset()
        self.ttl4.pulse(1*us)
        print("alive")
"""


def children(pid):
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(text) for text in done.stdout.split()]


@pytest.mark.parametrize("instants", [2, pytest.param(20, marks=pytest.mark.long)])
def test_emulator_killed_at_random_time_leaves_clear_error(kairos, instants):
    rng = random.Random(instants)
    path = kairos.write(COUNTING)
    for number in range(instants):
        output = kairos.directory / f"{number}.h5"
        process = kairos.start(path, "-o", output, "--no-table")
        for _ in range(rng.randrange(1, 20)):
            last = process.stdout.readline()
        time.sleep(rng.uniform(0, 0.05))
        [emulator] = children(process.pid)
        os.kill(emulator, signal.SIGKILL)
        said, error = process.communicate(timeout=TIMEOUT)
        assert process.returncode == 1
        assert error.startswith("kairos: the emulator ended (signal 9)") and "Traceback" not in error, error
        reported = int(([last] + [line for line in said.splitlines() if line.isdecimal()])[-1])
        with h5py.File(output) as file:
            assert file["datasets/count"][()] >= reported
        kept = run_kairos("datasets", "list", cwd=kairos.directory).stdout
        assert int(kept.removeprefix("count: ")) >= reported, kept
    done = kairos.run(ALIVE)
    assert done.returncode == 0 and "alive" in done.stdout


@pytest.mark.parametrize("instants", [2, pytest.param(12, marks=pytest.mark.long)])
def test_clients_wait_for_restarting_device(device_with_card, kairos, tmp_path, instants):
    """A run, the monitor and the log, at any stage of the restart."""
    device, rng = device_with_card, random.Random(instants)
    database = tmp_path / "device_db.py"
    address = f"{device.host}:{device.port}"
    database.write_text((EXAMPLES / "device_db.py").read_text().replace("emulator://demo", address))
    path = kairos.write(ALIVE)
    where = {port: f"127.0.0.1:{device.ports[port]}" for port in (management.PORT, moninj.PORT, analyzer.PORT)}
    for _ in range(instants):
        done = run_kairos("device", "--device", where[management.PORT], "reboot")
        assert done.returncode == 0, done.stderr
        time.sleep(rng.uniform(0, 1.5))
        done = kairos("run", path, device_db=database)
        assert done.returncode == 0 and "alive" in done.stdout, done.stdout + done.stderr
        run_kairos("device", "--device", where[management.PORT], "reboot")
        time.sleep(rng.uniform(0, 1.5))
        words = ("--device", where[moninj.PORT], "--device-db", database, "watch", "ttl4", "--for", "0.1")
        done = run_kairos("moninj", *words)
        assert (done.returncode, done.stdout) == (0, "ttl4: 0\n"), done.stderr
        run_kairos("device", "--device", where[management.PORT], "reboot")
        done = run_kairos("device", "--device", where[management.PORT], "log", "--json")
        assert done.returncode == 0, done.stderr
        entries = [json.loads(line) for line in done.stdout.splitlines()]
        assert {"time", "level", "source", "message"} == set(entries[0]) and entries[0]["time"] >= 0


def test_slow_clients_do_not_delay_others(device, device_db, kairos):
    """On every port, one client sends its greeting at one letter per 0.25 s, one stops within a request.

    The last letter is not sent: a client whose greeting is whole takes the device from the one that runs."""
    greetings = {
        session.PORT: b"ARTIQ coredev\n",
        management.PORT: management.GREETING + b"\0",
        moninj.PORT: moninj.GREETING,
    }
    stopped, over = [], threading.Event()

    def dribble(port, greeting):
        with socket.create_connection((device.host, device.ports[port]), 5) as connection:
            for place in range(len(greeting) - 1):
                if over.wait(0.25):
                    return
                try:
                    connection.sendall(greeting[place : place + 1])
                except OSError:
                    return  # the device's timeout has expired

    threads = [threading.Thread(target=dribble, args=item) for item in greetings.items()]
    try:
        for thread in threads:
            thread.start()
        for port in (management.PORT, moninj.PORT):
            connection = socket.create_connection((device.host, device.ports[port]), 5)
            connection.sendall(greetings[port] + b"\x0d\xff")
            stopped.append(connection)
        for _ in range(3):
            began = time.monotonic()
            done = kairos.run(ALIVE, device_db=device_db)
            assert done.returncode == 0 and "alive" in done.stdout, done.stdout + done.stderr
            assert time.monotonic() - began < 20
    finally:
        over.set()
        for thread in threads:
            thread.join()
        for connection in stopped:
            connection.close()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"\x00\xff\xfe" * 50, "device_db.py"),
        (b"device_db = {", "was never closed"),
        (b"device_db = 5\n", "does not define a dictionary named device_db"),
        (b"", "does not define a dictionary named device_db"),
        (b"raise RuntimeError('of its own')\n", "device_db.py:1: RuntimeError: of its own"),
        (b"import sys\nsys.exit(3)\n", "device_db.py"),
        (b"import no_such_module\n", "no_such_module"),
        (b"device_db = {'core': 'core'}\n", "form a cycle"),
        (b"device_db = {'core': {'type': 'local'}}\n", "lacks 'module'"),
        (b"device_db = {'core': {'type': 'nonsense'}}\n", "Unsupported type in device DB: nonsense"),
        (b"def f():\n    return f()\n\n\nf()\n", "RecursionError"),
    ],
)
def test_broken_device_database_is_rejected(kairos, tmp_path, content, text):
    path = tmp_path / "device_db.py"
    path.write_bytes(content)
    one_line(kairos.run(ALIVE, device_db=path), text)


def test_unwritable_output_leaves_other_outputs_written(kairos):
    """The folder of the VCD file becomes a file during the run."""
    (kairos.directory / "gone").mkdir()
    body = """
    def run(self):
        __import__("os").rmdir("gone")
        open("gone", "w").close()
        self.pulses()

    @kernel
    def pulses(self):
        self.core.reset()
        self.ttl4.pulse(1*us)
        self.set_dataset("small", 1)
"""
    done = kairos.run(body, "-q", "--vcd", "gone/out.vcd", "-o", "out.h5")
    one_line(done, "kairos: --vcd gone/out.vcd cannot be written: ")
    with h5py.File(kairos.directory / "out.h5") as file:
        assert file["datasets/small"][()] == 1
