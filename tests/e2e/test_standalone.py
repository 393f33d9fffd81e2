"""An experiment as the idle kernel: compiled, written to the device, run by it."""

import subprocess
import sys
import time

from tests.conformance import sd_card

EXPERIMENT = """from artiq.experiment import *


class Alone(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")

    @kernel
    def run(self):
        self.core.reset()
        for i in range(3):
            self.ttl4.pulse(1 * us)
            delay(9 * us)
        delay(1 * ms)
        self.core.wait_until_mu(now_mu())
"""


def device(address, *arguments):
    """Runs `kairos device`."""
    command = [sys.executable, "-m", "kairos", "device", "-D", address, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_an_experiment_as_idle_kernel(kairos, start_device, tmp_path):
    emulated = start_device(tmp_path, sd=sd_card.make(tmp_path / "card", []))
    try:
        path = kairos.write(EXPERIMENT, head="", name="alone.py")
        library = tmp_path / "alone.elf"
        done = kairos("compile", path, "--emit", "elf", "--output", library)
        assert done.returncode == 0, done.stderr
        address = f"{emulated.host}:{emulated.ports[1380]}"
        done = device(address, "config", "write", "-f", "idle_kernel", library)
        assert done.returncode == 0, done.stderr
        end = time.monotonic() + 10
        rises = []
        while len(rises) < 6:
            assert time.monotonic() < end, emulated.uart()
            trace = emulated.control("trace", **{"from": 0})
            (pad,) = [pad["index"] for pad in trace["pads"] if pad["channel"] == 4]
            rises = [when for when, index, level in trace["events"] if index == pad and level == 1]
            time.sleep(0.05)
        assert [rise - rises[0] for rise in rises[:3]] == [0, 10_000, 20_000]
        assert rises[3] - rises[2] > 1_000_000
        done = device(address, "log")
        assert "idle kernel: running" in done.stdout and "idle kernel: it" not in done.stdout, done.stdout
    finally:
        emulated.close()
