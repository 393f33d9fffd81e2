"""What ends badly: a long run that is terminated, a device that announces gigabytes."""

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .timing import ROOT

__all__ = ["PREFIXES", "end_figures"]

PREFIXES = ("run.sigterm", "host.max_rss")
PLAYED = 500
"""Pulses per trace."""
TIMES = 2000
"""Number of times that the trace is played."""
FILES = {
    option: f"out{suffix}"
    for option, suffix in zip(("-o", "--vcd", "--scope", "--plot"), (".h5", ".vcd", ".html", ".png"), strict=True)
}
EXPERIMENT = f"""from artiq.experiment import *


class Long(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("core_dma")
        self.setattr_device("ttl4")

    def run(self):
        self.set_dataset("counts", [1, 2, 3])
        self.pulses()

    @kernel
    def pulses(self):
        self.core.reset()
        with self.core_dma.record("many"):
            for i in range({PLAYED}):
                self.ttl4.pulse(200*ns)
                delay(200*ns)
        trace = self.core_dma.get_handle("many")
        self.core.break_realtime()
        for i in range({TIMES}):
            self.core_dma.playback_handle(trace)
            delay(100*us)
        self.core.wait_until_mu(now_mu())
        print("running")
        while True:
            pass
"""


def sigterm_s() -> float:
    """Return the seconds from SIGTERM to the end of a run with all its files, two million edges
    after its start."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        experiment = path / "long.py"
        experiment.write_text(EXPERIMENT)
        words = [word for each in FILES.items() for word in each]
        command = [sys.executable, "-m", "kairos", "run", str(experiment), *words]
        command += ["--device-db", str(ROOT / "examples" / "device_db.py")]
        with subprocess.Popen(command, cwd=path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            if process.stdout.readline() != "running\n":
                raise RuntimeError(process.communicate()[1])
            start = time.perf_counter()
            process.send_signal(signal.SIGTERM)
            said, error = process.communicate()
            spent = time.perf_counter() - start
        absent = [name for name in FILES.values() if not (path / name).exists()]
        if absent or process.returncode != 128 + signal.SIGTERM or f"{2 * PLAYED * TIMES:,}" not in said:
            raise RuntimeError(f"absent: {absent}, exit code {process.returncode}\n{said}\n{error}")
    return spent


def hostile_mib() -> int:
    """Return the maximum resident memory of a host whose device announces gigabytes."""
    from tests.support.hostile_device import GIGABYTES, peak_mib

    return max(map(peak_mib, GIGABYTES))


def end_figures(figures):
    """Ends of runs."""
    if figures.wants(("run.sigterm",)):
        source = f"SIGTERM to the end of the process, {2 * PLAYED * TIMES / 1e6:.0f}e6 edges, -o --vcd --scope --plot"
        figures.add("run.sigterm_after_2e6_edges_s", sigterm_s(), "s", target=5, source=source)
    if figures.wants(("host.max_rss",)):
        source = "resident memory of a session whose device announces 3 GB: a reason, texts, lists, arrays, a tag"
        figures.add("host.max_rss_hostile_mib", hostile_mib(), "MiB", target=300, source=source)
