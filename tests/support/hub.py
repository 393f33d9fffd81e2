"""A hub for tests: the program, before devices whose addresses are given."""

import signal
import subprocess

from . import PATIENCE
from .paths import BUILD

HUB = BUILD / "hub" / "kairos-hub"


class Hub:
    """A hub with these devices, names and addresses, and other entries of hub.toml; `address`: where it listens."""

    def __init__(self, folder, devices, listen="127.0.0.1:0", entries=""):
        settings = folder / "hub.toml"
        named = (f"[[device]]\nname = '{name}'\naddress = '{address}'\n" for name, address in devices.items())
        settings.write_text("".join([entries, *named]))
        with (folder / "hub.log").open("w") as log:
            command = [HUB, settings, "--listen", listen]
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("listening on "), (folder / "hub.log").read_text()
        self.address = line.split()[-1]

    def close(self):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(PATIENCE) == 0
        self.process.stdout.close()
