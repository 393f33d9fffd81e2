"""Devices for tests: an emulated chip with the real firmware and the real gateware."""

import json
import select
import socket
import subprocess

import pytest

from . import TIMEOUT
from .paths import EMULATOR, FIRMWARE, GATEWARE
from .waiting import until

RUNTIME = FIRMWARE / "runtime.elf"
LIBRARY = GATEWARE / "libkairos_pl.so"


class Emulated:
    """An emulator started with these arguments; its files are in `directory`."""

    def __init__(self, directory, *arguments):
        self.uart_file, self._errors, self.control_socket = (directory / name for name in ("uart", "errors", "control"))
        # Silent clients are intentional here, and need not be awaited as long as an experiment's
        # host.
        command = [EMULATOR, "--set", "host_wait_ms=100", *arguments, "--uart", self.uart_file]
        command += ["--control", self.control_socket, "--exit-with-control"]
        with self._errors.open("w") as errors:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        self._control = None

    def attach(self):
        """Open the control socket as soon as it exists."""

        def attempt():
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(str(self.control_socket))
                self._control, self._replies = connection, connection.makefile("r")
            except (FileNotFoundError, ConnectionRefusedError):
                connection.close()
            return self._control is not None or self.process.poll() is not None

        until(attempt, self.errors)

    def control(self, command, **arguments):
        """Send one request on the control socket (docs/interfaces.md, section 7) and return its
        reply."""
        self._control.sendall(json.dumps({"cmd": command, **arguments}).encode() + b"\n")
        reply = json.loads(self._replies.readline())
        assert "error" not in reply, reply
        return reply

    def pass_time(self, seconds):
        """Wait until the given seconds of the device's time have passed."""
        end = self.control("status")["time_ns"] + round(seconds * 1e9)
        waited = self.control("wait", **{"for": "time"}, time_ns=end, timeout_ms=1000 * TIMEOUT)
        assert waited["reached"] == "time", waited

    def uart(self):
        """Return what loader and firmware have printed."""
        return self.uart_file.read_text(errors="replace") if self.uart_file.exists() else ""

    def errors(self):
        """Return the emulator's error output."""
        return self._errors.read_text()

    def close(self):
        if self._control is not None:
            self._control.close()
            self._replies.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


class Device(Emulated):
    """A device under test: `host` and `port` of its kernel service, `control(command)` for the
    emulator's control socket.

    `ports` are those of all its services, by their number on the device; `forwards`: additional
    ones, in the format of `--forward`, by their address. `sd`: image of the SD card; `settings`: in
    the format of `--set`. `gateware`: whether there is any, or the library of a gateware other than
    `demo`.
    """

    def __init__(self, directory, gateware=True, sd=None, settings=(), forwards=()):
        gateware = LIBRARY if gateware is True else gateware
        needed = [EMULATOR, RUNTIME] + ([gateware] if gateware else [])
        missing = [str(path) for path in needed if not path.exists()]
        if missing:
            pytest.fail(f"not built: {', '.join(missing)}. Run `make build` first.", pytrace=False)
        arguments = ["--firmware", RUNTIME]
        for forward in [*(f"0:{port}" for port in (1380, 1381, 1382, 1383)), *forwards]:
            arguments += ["--forward", forward]
        for setting in settings:
            arguments += ["--set", setting]
        arguments += ["--sd", sd] if sd else []
        arguments += ["--pl", gateware] if gateware else []
        super().__init__(directory, *arguments)
        readable, _, _ = select.select([self.process.stdout], [], [], TIMEOUT)
        line = self.process.stdout.readline() if readable else ""
        if not line:
            self.process.kill()
            self.close()
            pytest.fail(f"the emulator did not become ready:\n{self.errors()}{self.uart()}", pytrace=False)
        self.ports = {
            int(device) if device.isdigit() else device: host for device, host in json.loads(line)["forwards"].items()
        }
        self.host, self.port = "127.0.0.1", self.ports[1381]
        self.attach()


class RemoteDevice:
    """A device started externally: `KAIROS_TEST_DEVICE=host:port`, for trying tests on QEMU or a
    board."""

    def __init__(self, address):
        self.host, port = address.rsplit(":", 1)
        self.port = int(port)
        self.ports = {1381: self.port}

    def control(self, command, **arguments):
        pytest.skip("needs the emulator")

    def uart(self):
        return ""

    def close(self):
        pass
