"""A device that boots as a chip does: from the boot ROM on."""

import importlib.util
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ..conftest import BUILD, Emulated

ROOT = Path(__file__).parents[2]
GATEWARE = BUILD / "gateware" / "demo"
FIRMWARE = BUILD / "firmware"
PORTS = (1379, 1380, 1381)


class BootDevice(Emulated):
    """An emulated chip with a boot ROM. `ports`: of the host, by port of the device."""

    def __init__(self, directory, *arguments, gateware=(GATEWARE / "libkairos_pl.so",)):
        self.ports = {}
        arguments = list(arguments)
        for library in gateware:
            arguments += ["--pl", library]
        for port in PORTS:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.ports[port] = probe.getsockname()[1]
            arguments += ["--forward", f"{self.ports[port]}:{port}"]
        super().__init__(directory, *arguments)
        self.attach()

    def wait_for(self, text, count=1, timeout=40):
        """Wait until `text` has been printed `count` times; all that was printed."""
        deadline = time.monotonic() + timeout
        while (printed := self.uart()).count(text) < count:
            assert self.process.poll() is None, f"{self.errors()}\n{printed}"
            assert time.monotonic() < deadline, f"'{text}' has not come {count} times:\n{printed}\n{self.errors()}"
            time.sleep(0.02)
        return printed

    def boot(self, *arguments):
        """Runs `kairos boot` for this device."""
        command = [sys.executable, "-m", "kairos", "boot", "--device", "127.0.0.1", "--port", str(self.ports[1379])]
        command += ["--management-port", str(self.ports[1380]), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=90)


@pytest.fixture
def boot_device(tmp_path):
    """Starts a device with the arguments of the emulator."""
    devices = []

    def start(*arguments, **options):
        missing = [p for p in (FIRMWARE / "boot.elf", GATEWARE / "kairos_sim.bit") if not p.exists()]
        if missing:
            pytest.fail(f"not built: {missing}. Run `make build` first.", pytrace=False)
        devices.append(BootDevice(tmp_path, *arguments, **options))
        return devices[-1]

    yield start
    for device in devices:
        device.close()


@pytest.fixture
def image():
    """The boot image of what was built, with the gateware `demo`."""
    from kairos.boot import boot_image

    return boot_image(FIRMWARE / "boot.elf", FIRMWARE / "runtime.elf", GATEWARE / "kairos_sim.bit")


@pytest.fixture
def card(tmp_path):
    """Makes a card with files in its root directory: pairs of an 11-letter name and bytes."""
    path = ROOT / "tests" / "conformance" / "sd_card.py"
    spec = importlib.util.spec_from_file_location("sd_card", path)
    sd_card = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sd_card)
    return lambda *files: sd_card.make(tmp_path / "card", files)
