"""Runs of experiments without a device, in a directory of their own."""

import subprocess
import sys

from . import TIMEOUT

__all__ = ["DEVICES", "HEAD", "Runner", "experiment"]

HEAD = "from artiq.experiment import *\n"
DEVICES = 'device_db = {"core": {"type": "local", "module": "artiq.coredevice.core", "class": "Core", "arguments": {"host": None, "ref_period": 1e-9}}}\n'  # noqa: E501


class Runner:
    """Runs ``kairos run`` in `directory`, with a device database whose core device is nowhere."""

    def __init__(self, directory):
        self.directory = directory

    def __call__(self, source, *arguments, devices=DEVICES, command="run"):
        """Run a source text; returns the completed process. `devices`: None for no database."""
        (self.directory / "exp.py").write_text(source)
        if devices is not None:
            (self.directory / "device_db.py").write_text(devices)
        line = [sys.executable, "-m", "kairos", command, "exp.py", *arguments]
        return subprocess.run(line, cwd=self.directory, capture_output=True, text=True, timeout=TIMEOUT)


def experiment(body, build="pass"):
    """Return the source of an experiment `Exp` whose methods have these statements."""
    return (
        f"{HEAD}class Exp(EnvExperiment):\n    def build(self):\n        {build}\n    def run(self):\n        {body}\n"
    )
