"""Garbage, resets and silence on every port of an emulated device: the next experiment runs, and
the emulator becomes idle again."""

import os
import random
import socket
import struct
import time
from contextlib import ExitStack, suppress

import pytest

from kairos.contracts import analyzer, management, moninj, session
from tests.support import TIMEOUT
from tests.support.waiting import until

GREETINGS = [b"ARTIQ coredev\n", b"ARTIQ management\n", b"ARTIQ moninj\n", b""]
PORTS = (management.PORT, session.PORT, analyzer.PORT, moninj.PORT)
PAGE = os.sysconf("SC_PAGE_SIZE")


def memory(pid) -> int:
    """Returns the memory that a process uses, in bytes."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * PAGE


def processor_seconds(pid) -> float:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def open_files(pid) -> int:
    """Returns the number of open files and connections of a process."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def at_rest(pid) -> bool:
    """Returns whether a process uses less than a tenth of a CPU core."""
    before, start = processor_seconds(pid), time.monotonic()
    time.sleep(0.5)
    return processor_seconds(pid) - before < 0.1 * (time.monotonic() - start)


def fire(device, rng):
    """Makes one connection of a kind that no client would make."""
    try:
        with socket.create_connection((device.host, device.ports[rng.choice(PORTS)]), 5) as connection:
            connection.settimeout(0.2)
            connection.sendall(rng.choice(GREETINGS))
            noise = rng.randbytes(rng.randrange(1, 3000))
            connection.sendall(rng.choice([b"", noise, b"\x5a" * 4 + noise[:40]]))
            if rng.random() < 0.3:
                connection.recv(100)
            if rng.random() < 0.5:
                # Closes with a reset.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass  # refused, reset or silent: all are acceptable


BODY = """
    @kernel
    def run(self):
        self.core.reset()
        self.ttl4.pulse(1*us)
        print("alive")
"""


def works(kairos, device_db):
    done = kairos.run(BODY, device_db=device_db)
    assert done.returncode == 0 and "alive" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("connections", [60, pytest.param(5000, marks=pytest.mark.long)])
def test_garbage_and_resets_leave_ports_usable(device, device_db, kairos, connections):
    rng = random.Random(connections)
    works(kairos, device_db)
    before, files = memory(device.process.pid), open_files(device.process.pid)
    for _ in range(connections):
        fire(device, rng)
    works(kairos, device_db)
    until(lambda: at_rest(device.process.pid), lambda: f"the emulator is busy\n{device.uart()[-2000:]}")
    assert memory(device.process.pid) < before + (32 << 20)
    until(lambda: open_files(device.process.pid) <= files, lambda: f"{open_files(device.process.pid)} files are open")


def test_silent_clients_do_not_block_others(device, device_db, kairos):
    clients = []
    with ExitStack() as silent:
        for port in (session.PORT, management.PORT, analyzer.PORT):
            for _ in range(8):
                # Connections beyond the device's limit may be reset, even before they are established.
                with suppress(ConnectionError):
                    clients.append(silent.enter_context(socket.create_connection((device.host, device.ports[port]), 5)))
        # Each is closed after a time in which it has to send its greeting.
        for connection in clients:
            connection.settimeout(TIMEOUT)
            with suppress(ConnectionError):
                while connection.recv(4096):
                    pass
        works(kairos, device_db)
    works(kairos, device_db)


def test_client_that_retries_gets_the_place_of_a_silent_one(device):
    """Its attempts, three a second, do not prolong the time that silent clients have for their greeting."""
    with ExitStack() as silent:
        for _ in range(4):
            with suppress(ConnectionError):
                silent.enter_context(socket.create_connection((device.host, device.ports[session.PORT]), 5))
        attempts = 0
        while not greeted(device):
            attempts += 1
            # The oldest silent client is evicted after a quarter of a second of the device's time.
            assert attempts < 40, device.uart()[-2000:]
            time.sleep(0.3)


def greeted(device) -> bool:
    """Return whether a new connection is answered within a moment."""
    try:
        with socket.create_connection((device.host, device.ports[session.PORT]), 5) as connection:
            connection.settimeout(0.3)
            connection.sendall(GREETINGS[0])
            return connection.recv(1) != b""
    except OSError:
        return False


def test_client_that_never_reads_blocks_no_other(device, device_db, kairos):
    """It requests the log repeatedly and reads none of it."""
    with socket.create_connection((device.host, device.ports[management.PORT]), 5) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.settimeout(1)
        try:
            slow.sendall(management.GREETING + b"\x01" * 20_000)
        except TimeoutError:
            pass  # the device stops reading: its answers are blocked
        works(kairos, device_db)
    until(lambda: at_rest(device.process.pid), lambda: "the emulator is busy")
    works(kairos, device_db)
