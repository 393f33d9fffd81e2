"""A device that boots like a chip: from the boot ROM."""

import subprocess
import sys

from . import TIMEOUT
from .device import Emulated
from .paths import GATEWARE
from .ports import free_port
from .waiting import printed

HOST = "127.0.0.1"
PORTS = (1379, 1380, 1381)


class BootDevice(Emulated):
    """An emulated chip with a boot ROM. `ports`: on the host, by port of the device."""

    def __init__(self, directory, *arguments, gateware=(GATEWARE / "libkairos_pl.so",)):
        self.host, self.ports = HOST, {}
        arguments = list(arguments)
        for library in gateware:
            arguments += ["--pl", library]
        for port in PORTS:
            self.ports[port] = free_port()
            arguments += ["--forward", f"{self.ports[port]}:{port}"]
        super().__init__(directory, *arguments)
        self.attach()

    def wait_for(self, text, count=1):
        """Wait until `text` has been printed `count` times; returns everything printed."""
        return printed(self, text, count)

    def boot(self, *arguments):
        """Run `kairos boot` for this device."""
        command = [sys.executable, "-m", "kairos", "boot", "--device", HOST, "--port", str(self.ports[1379])]
        command += ["--management-port", str(self.ports[1380]), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
