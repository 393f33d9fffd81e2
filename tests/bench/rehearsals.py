"""The twin: rehearsals, sweeps, waveforms in results."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from kairos import emulator
from kairos.devices import DeviceDB
from kairos.twin.rehearsal import Twin
from kairos.twin.sweep.run import Sweep
from kairos.twin.sweep.space import Dimension, Space
from kairos.waveform import Changes, Channel, Recording
from kairos.waveform.difference import differences
from kairos.waveform.stored import packed
from tests.support.gateware import built
from tests.support.laboratory import Laboratory
from tests.support.paths import EXAMPLES
from tests.support.waiting import until

__all__ = ["PREFIXES", "twin_figures"]

PREFIXES = ("rehearse.", "sweep.", "waveform.", "diff.", "replay.")
ION = EXAMPLES / "ion"
RABI = "rabi_flop.py"
EMPTY, SCANNED = "nothing.py", "scanned.py"
FILES = f"{RABI} trap.py bench.toml device_db.py".split()
MEMORY_PER_CORE = 1 << 30
"""Bytes that devices may occupy per core."""
NOTHING = """
from artiq.experiment import *


class Nothing(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_argument("n", NumberValue(0, precision=0, step=1, type="int"))

    def run(self):
        self.set_dataset("n", self.n)
"""
PULSE = """
from artiq.experiment import *
from trap import THRESHOLD, Trap


class Pulse(Trap, EnvExperiment):
    def build(self):
        self.build_trap()
        self.setattr_argument("length", NumberValue(10 * us, unit="us"))

    @kernel
    def run(self):
        self.setup()
        self.core.break_realtime()
        dark = 0
        for _ in range(self.shots):
            self.cool()
            self.qubit.sw.pulse(self.length)
            delay(2 * us)
            if self.detect() < THRESHOLD:
                dark += 1
        self.core.wait_until_mu(now_mu())
        self.set_dataset("dark", dark)
"""
"""One point; the scanned argument is a number of the kernel."""
QUICK = """
import time
from artiq.experiment import *


class Timed(EnvExperiment):
    def run(self):
        self.set_dataset("begun", time.time(), broadcast=True)
"""


def twin_figures(figures):
    """Rehearsals, sweeps, waveforms."""
    built("ion")
    if figures.wants(("rehearse.blink", "rehearse.rabi", "waveform.")):
        _rehearsals(figures)
    if figures.wants(("rehearse.cost",)):
        _cost_on_queue(figures)
    if figures.wants(("sweep.",)):
        with tempfile.TemporaryDirectory() as name:
            _sweeps(figures, Path(name))
    if figures.wants(("replay.",)):
        with tempfile.TemporaryDirectory() as name:
            _replay(figures, Path(name))
    if figures.wants(("diff.",)):
        _differences(figures)


def _rehearsals(figures):
    times = []
    for _ in range(4):
        begun = time.perf_counter()
        with Twin(DeviceDB.load(EXAMPLES / "device_db.py")) as twin:
            assert twin.rehearse(EXAMPLES / "blink.py").passed
        times.append(time.perf_counter() - begun)
    source = (
        "examples/blink.py: device booted, compiled, run, examined, device ended; modules imported, as in a laboratory"
    )
    figures.add("rehearse.blink_s", statistics.median(times[1:]), "s", target=0.5, source=source)
    begun = time.perf_counter()
    with Twin(DeviceDB.load(ION / "device_db.py"), str(ION / "bench.toml")) as twin:
        found = twin.rehearse(ION / RABI, arguments=["points=50", "shots=100"])
    source = "examples/ion/rabi_flop.py: 50 points of 100 shots, as rehearse.blink_s"
    figures.add("rehearse.rabi_5000_shots_s", time.perf_counter() - begun, "s", target=3, source=source)
    assert found.passed and found.points == 50
    values = packed(found.recording, "twin")
    size = sum(np.asarray(value).nbytes for value in values.values() if not isinstance(value, str | list | int))
    source = f"the pins of this run, {found.recording.event_count:,} changes"
    figures.add("waveform.bytes_per_event", size / found.recording.event_count, "B", target=1, source=source)


def _cost_on_queue(figures):
    """What a submission takes longer because it is rehearsed."""
    medians = {}
    for policy in ("off", "warn"):
        with tempfile.TemporaryDirectory() as name:
            lab = Laboratory(Path(name), f'[rehearsal]\ndefault = "{policy}"\n')
            (lab.folder / "repository" / "lab.py").write_text(QUICK)
            lab.start()
            try:
                until(lambda lab=lab: lab.experiments()["experiments"])
                times = []
                for _ in range(15):
                    expid = {"file": "lab.py", "class_name": "Timed", "repo_rev": None, "log_level": 30}
                    begun = time.time()
                    rid = lab.submit(expid)
                    times.append(1e3 * (time.time() - begun))
                    lab.rehearsed(rid) if policy != "off" and lab.status_of(rid) is not None else None
                    lab.ends(rid)
                medians[policy] = statistics.median(times)
            finally:
                lab.close()
    source = f"submit() of a client with the policy 'warn' ({medians['warn']:.2f} ms) against 'off', without devices"
    figures.add("rehearse.cost_on_queue_ms", max(0.0, medians["warn"] - medians["off"]), "ms", target=5, source=source)


def _swept(sweep, folder, workers) -> float:
    """Return the seconds that the points of a sweep take, without the start of the workers."""
    times = []
    sweep.run(folder / f"{time.time()}.h5", workers, progress=lambda *_: times.append(time.perf_counter()))
    # The first point of each worker includes its start.
    return (times[-1] - times[workers - 1]) / (len(times) - workers)


@contextmanager
def _kept_kernels(folder):
    """Context in which workers keep kernels, as they do for users, in an empty cache."""
    before = os.environ.get("KAIROS_CACHE")
    os.environ["KAIROS_CACHE"] = str(folder / "kernels")
    try:
        yield
    finally:
        os.environ.pop("KAIROS_CACHE") if before is None else os.environ.update(KAIROS_CACHE=before)


def _sweeps(figures, folder):
    for name in FILES:
        (folder / name).write_text((ION / name).read_text())
    (folder / EMPTY).write_text(NOTHING)
    (folder / SCANNED).write_text(PULSE)

    def sweep_of(file, space, **arguments):
        return Sweep(folder / file, space, arguments, device_db=folder / "device_db.py")

    rabi = sweep_of(RABI, Space((Dimension("longest", np.linspace(10e-6, 60e-6, 20)),)), points="1", shots="100")
    alone, both = _swept(rabi, folder, 1), _swept(rabi, folder, 2)
    source = "examples/ion/rabi_flop.py, one point of 100 shots each, two workers, without their start"
    figures.add("sweep.points_per_s", 1 / both, "1/s", target=20, at_least=True, source=source)
    lengths = Space((Dimension("length", np.linspace(1e-6, 30e-6, 20)),))
    with _kept_kernels(folder):
        seconds = _swept(sweep_of(SCANNED, lengths, shots="100"), folder, 2)
    source = "the same, where the scanned argument is a number in the kernel"
    figures.add("sweep.scanned_points_per_s", 1 / seconds, "1/s", target=20, at_least=True, source=source)
    source = "the same points: rate of two workers over twice that of one"
    figures.add("sweep.efficiency", alone / both / 2, "", target=0.9, at_least=True, source=source)
    nothing = sweep_of(EMPTY, Space((Dimension("n", list(range(100))),)))
    source = "a point without kernels, one worker: copies of process and device, experiment built, result stored"
    figures.add("sweep.overhead_ms_per_point", 1e3 * _swept(nothing, folder, 1), "ms", target=5, source=source)
    ddb = DeviceDB.load(folder / "device_db.py")
    device = emulator.Emulator("ion", emulator.Options(bench=str(folder / "bench.toml"), entries=ddb.entries))
    device.control.wait("ready")
    copies = [emulator.Copy(device, seed) for seed in range(20)]
    proportional = [_proportional(process.pid) for process in (device, *copies)]
    for copy in copies:
        copy.stop()
    device.stop()
    source = f"booted devices in 1 GiB: 20 copies of one take {sum(proportional) / 2**20:.0f} MiB, before they run"
    count = MEMORY_PER_CORE / (sum(proportional) / len(proportional))
    figures.add("sweep.devices_per_core", count, "", target=20, at_least=True, source=source)


def _replay(figures, folder):
    """The same experiment, run and repeated, each by a command."""

    def seconds(*words) -> float:
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-m", "kairos", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begun

    options = ("--device-db", ION / "device_db.py", "--bench", ION / "bench.toml", "--no-table", "-o", "run.h5")
    run = statistics.median(seconds("run", ION / RABI, "points=50", "shots=100", *options) for _ in range(3))
    again = statistics.median(seconds("replay", "run.h5") for _ in range(3))
    source = (
        "examples/ion/rabi_flop.py, 50 points of 100 shots: seconds of 'kairos run -o' over those of 'kairos replay'"
    )
    figures.add("replay.speed", run / again, "", target=0.8, at_least=True, source=source)


def _proportional(pid: int) -> int:
    """Return the memory of a process, shared pages divided among those that share them."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))


def _differences(figures):
    times = np.arange(1_000_000, dtype=np.int64) * 500
    levels = (1 - np.arange(len(times)) % 2).astype(np.int8)
    one = Recording([Channel("ttl0", 0, 0, Changes(times, levels))])
    other = Recording([Channel("ttl0", 0, 0, Changes(times + (times > times[len(times) // 2]) * 8, levels))])
    begun = time.perf_counter()
    assert len(differences(one, other)) == 1
    seconds = time.perf_counter() - begun
    source = "differences of two recordings of a million events, half of which moved"
    figures.add("diff.events_per_s", len(times) / seconds, "1/s", source=source)
