"""Devices for tests: an emulated chip with the real firmware and the real gateware, one for each test module."""

import json
import os
import select
import socket
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("KAIROS_BUILD") or Path(__file__).parents[1] / "build")
EMULATOR = BUILD / "emulator" / "kairos-emulator"
FIRMWARE = BUILD / "firmware" / "runtime.elf"
GATEWARE = BUILD / "gateware" / "demo" / "libkairos_pl.so"
READY_TIMEOUT = 30.0
"""Seconds in which the emulator must say that the firmware has booted."""


class Device:
    """A device under test: `host` and `port` of its kernel service, `control(command)` for the emulator's own.

    `ports` are those of all its services, by their number on the device; `forwards`: further ones, as `--forward` takes
    them, by their address. `sd`: image of the SD card; `settings`: as `--set` takes them. `gateware`: whether there is
    any, or the library of another one than `demo`.
    """

    def __init__(self, directory, gateware=True, sd=None, settings=(), forwards=()):
        gateware = GATEWARE if gateware is True else gateware
        needed = [EMULATOR, FIRMWARE] + ([gateware] if gateware else [])
        missing = [str(path) for path in needed if not path.exists()]
        if missing:
            pytest.fail(f"not built: {', '.join(missing)}. Run `make build` first.", pytrace=False)
        socket_path = directory / "control"
        command = [EMULATOR, "--firmware", FIRMWARE, "--control", socket_path]
        for port in (1380, 1381, 1382, 1383):
            command += ["--forward", f"0:{port}"]
        for forward in forwards:
            command += ["--forward", forward]
        command += ["--sd", sd] if sd else []
        # Clients that are silent on purpose need not be waited for as long as an experiment's host.
        for setting in ["host_wait_ms=100", *settings]:
            command += ["--set", setting]
        command += ["--exit-with-control", "--uart", directory / "uart"]
        command += ["--pl", gateware] if gateware else []
        self.uart_file = directory / "uart"
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        readable, _, _ = select.select([self.process.stdout], [], [], READY_TIMEOUT)
        line = self.process.stdout.readline() if readable else ""
        if not line:
            self.process.kill()
            _, errors = self.process.communicate()
            pytest.fail(f"the emulator did not become ready:\n{errors}{self.uart()}", pytrace=False)
        self.ports = {
            int(device) if device.isdigit() else device: host for device, host in json.loads(line)["forwards"].items()
        }
        self.host, self.port = "127.0.0.1", self.ports[1381]
        self._control = socket.socket(socket.AF_UNIX)
        self._control.connect(str(socket_path))
        self._replies = self._control.makefile("r")

    def control(self, command, **arguments):
        """One request on the control socket (docs/interfaces.md, section 7) and its reply."""
        self._control.sendall(json.dumps({"cmd": command, **arguments}).encode() + b"\n")
        reply = json.loads(self._replies.readline())
        assert "error" not in reply, reply
        return reply

    def uart(self):
        """What the firmware has printed."""
        return self.uart_file.read_text(errors="replace") if self.uart_file.exists() else ""

    def close(self):
        self._control.close()
        self._replies.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


class RemoteDevice:
    """A device that somebody else has started: `KAIROS_TEST_DEVICE=host:port`, for trying tests on QEMU or a board."""

    def __init__(self, address):
        self.host, port = address.rsplit(":", 1)
        self.port = int(port)

    def control(self, command, **arguments):
        pytest.skip("needs the emulator")

    def uart(self):
        return ""

    def close(self):
        pass


@pytest.fixture(scope="session")
def start_device():
    """Class of emulated devices, for tests that need one of their own: whoever starts one closes it."""
    return Device


@pytest.fixture(scope="module")
def device(tmp_path_factory):
    """An emulated device with the gateware `demo`, booted and ready."""
    address = os.environ.get("KAIROS_TEST_DEVICE")
    device = RemoteDevice(address) if address else Device(tmp_path_factory.mktemp("device"))
    yield device
    device.close()
