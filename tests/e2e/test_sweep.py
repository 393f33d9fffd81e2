"""`kairos sweep`: the same file for any number of workers, with killed ones, and after a resume."""

import os
import random
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import h5py
import numpy as np
import pytest

from kairos import emulator
from kairos.devices import DeviceDB
from kairos.errors import KairosError
from kairos.twin.rehearsal import PATIENT, Twin
from kairos.twin.sweep.run import Sweep
from kairos.twin.sweep.space import Dimension, Space
from kairos.waveform.difference import differences
from tests.support import TIMEOUT
from tests.support.gateware import database
from tests.support.paths import EXAMPLES
from tests.support.processes import processes
from tests.support.waiting import until

ION = EXAMPLES / "ion"
COUNTS = '''"""Counts photons of an ion after a pulse."""
import random

import numpy as np
from artiq.experiment import *
from trap import Trap

STATE = []


class Counts(Trap, EnvExperiment):
    def build(self):
        self.build_trap()
        self.setattr_argument("length", NumberValue(10 * us, unit="us"))
        self.setattr_argument("fails", BooleanValue(False))

    @kernel
    def run(self):
        self.setup()
        counts = [0] * 5
        for shot in range(5):
            self.core.break_realtime()
            self.cool()
            self.qubit.sw.pulse(self.length)
            delay(2 * us)
            counts[shot] = self.detect()
        self.note(counts)
        if self.fails:
            delay(-10 * ms)
            self.qubit.sw.on()

    def note(self, counts):
        STATE.append(1)
        self.set_dataset("counts", counts)
        self.set_dataset("drawn", [random.random(), np.random.random()])
        self.set_dataset("earlier", len(STATE))
'''


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory):
    """A folder with an experiment, a bench and a device database."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "counts.py").write_text(COUNTS)
    for name in ("trap.py", "bench.toml"):
        (folder / name).write_text((ION / name).read_text())
    (folder / "device_db.py").write_text(database("ion", folder).read_text())
    return folder


def sweep_in(laboratory, space, **more):
    return Sweep(laboratory / "counts.py", space, device_db=laboratory / "device_db.py", **more)


SPACE = Space((Dimension("length", [1e-6, 5e-6]), Dimension("photons", [1e7, 2e7])), repeats=2)


@pytest.fixture(scope="module")
def expected(laboratory):
    """The file of a sweep with one worker."""
    path = laboratory / "expected.h5"
    assert sweep_in(laboratory, SPACE).run(path, workers=1) == (8, 0)
    return path.read_bytes()


def test_sweep_varies_arguments_and_the_bench(laboratory, expected):
    with h5py.File(laboratory / "expected.h5") as file:
        counts, drawn = file["counts"][...], file["drawn"][...]
        assert file["counts"].shape == (2, 2, 2, 5) and (file["earlier"][...] == 1).all()
        assert file["photons"][...].tolist() == [1e7, 2e7]
        assert len(np.unique(drawn)) == drawn.size and len(np.unique(file["seed"][...])) == 8
    # The beam of the bench is twice as bright.
    bright = counts.max(axis=(0, 2, 3))
    assert bright[1] > 1.4 * bright[0] > 0


@pytest.mark.parametrize("workers", [pytest.param(2, marks=pytest.mark.long), 8])
def test_file_is_the_same_for_any_number_of_workers(laboratory, expected, tmp_path, workers):
    sweep_in(laboratory, SPACE).run(tmp_path / "a.h5", workers=workers)
    assert (tmp_path / "a.h5").read_bytes() == expected
    assert not list(tmp_path.glob("*.part"))


def test_file_is_the_same_with_killed_workers(laboratory, expected, tmp_path):
    killed, folders = [], []

    def kill(pid):
        with suppress(ProcessLookupError):  # the sweep has ended meanwhile
            os.kill(pid, signal.SIGKILL)

    def started(pid):
        folders.append(Path(f"/proc/{pid}/cmdline").read_text().split("\0")[-2])
        # The first ones only: a point whose worker is lost again and again is given up.
        if len(killed) < 3:
            killed.append(pid)
            threading.Timer(0.5 * len(killed), kill, (pid,)).start()

    assert sweep_in(laboratory, SPACE).run(tmp_path / "a.h5", workers=2, started=started) == (8, 0)
    assert killed and (tmp_path / "a.h5").read_bytes() == expected
    # Neither those that were killed nor the others leave the copies of themselves that wait for a point.
    until(lambda: not any(processes(Path(each)) for each in folders))


def test_sweep_that_was_interrupted_goes_on(laboratory, expected, tmp_path):
    class Enough(Exception):
        pass

    def stop(done, _):
        if done == 3:
            raise Enough

    path = tmp_path / "a.h5"
    with pytest.raises(Enough):
        sweep_in(laboratory, SPACE).run(path, workers=1, progress=stop)
    assert not path.exists() and (tmp_path / "a.h5.part").exists()
    computed, failed = sweep_in(laboratory, SPACE).run(path, workers=2)
    assert (computed, failed) == (5, 0) and path.read_bytes() == expected


def test_failed_points_are_in_the_file(laboratory, tmp_path):
    space = Space((Dimension("fails", [False, True]),))
    assert sweep_in(laboratory, space).run(tmp_path / "a.h5", workers=1) == (2, 1)
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["error"][...].tolist()[0] == b"" and b"RTIOUnderflow" in file["error"][1]
        assert file["counts"].shape == (2, 5)


def test_command_writes_the_file_and_reports_failed_points(kairos, laboratory, expected):
    words = ["sweep", laboratory / "counts.py", "--scan", "fails=[False, True]", "--workers", "1"]
    done = kairos(*words, device_db=laboratory / "device_db.py")
    assert done.returncode == 1 and "2 points; wrote sweep.h5" in done.stdout
    assert "1 point has failed: counts.py:" in done.stderr and "RTIOUnderflow" in done.stderr
    again = kairos(*words, device_db=laboratory / "device_db.py")
    assert again.returncode == 1 and "sweep.h5 exists already" in again.stderr
    for wrong, text in (
        (["--scan", "nonsense=1:2:3"], "neither the experiment has an argument nonsense"),
        ([], "nothing is scanned"),
        (["--scan", "length=1us:2us:2", "length=1us"], "length is scanned, and given as length=1us"),
        (["--scan", "length=1us:2us"], "give START:STOP:NUMBER"),
        (["nonsense=1", "--scan", "length=[1e-6]"], "has no argument nonsense"),
    ):
        done = kairos("sweep", laboratory / "counts.py", *wrong, "-o", "b.h5", device_db=laboratory / "device_db.py")
        assert done.returncode in (1, 2) and text in done.stderr, done.stderr


def test_sweep_is_a_function_of_kairos(laboratory, tmp_path, monkeypatch):
    import kairos

    monkeypatch.chdir(laboratory)
    found = kairos.sweep("counts.py", {"length": [1e-6]}, tmp_path / "a.h5", workers=1, progress=False)
    assert (tmp_path / "a.h5").exists()
    assert found is not None


PLAIN = """
import random

from artiq.experiment import *


class Plain(EnvExperiment):
    def build(self):
        self.setattr_argument("n", NumberValue(0, precision=0, step=1, type="int"))

    def run(self):
        self.set_dataset("twice", 2 * self.n)
        self.set_dataset("drawn", random.random())
"""


@pytest.mark.long
def test_ten_thousand_points_survive_kills_at_random(tmp_path):
    (tmp_path / "plain.py").write_text(PLAIN)
    (tmp_path / "device_db.py").write_text("device_db = {}\n")
    command = [sys.executable, "-m", "kairos", "sweep", "plain.py", "--scan", "n=0:9999:10000", "--workers", "2"]
    pauses, kills = random.Random(7), 0
    while not (tmp_path / "sweep.h5").exists():
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            # Killed five times, wherever it is; then left alone.
            _, errors = process.communicate(timeout=pauses.uniform(2, 15) if kills < 5 else None)
            assert process.returncode == 0, errors.decode()
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
    assert kills == 5
    with h5py.File(tmp_path / "sweep.h5") as file:
        assert file["twice"][...].tolist() == [2 * n for n in range(10_000)]
        expected = [random.Random(int(seed)).random() for seed in file["seed"][...]]
        assert file["drawn"][...].tolist() == expected


@contextmanager
def dask(folder, *environments):
    """Context of a cluster with a worker for each environment: its address."""
    pytest.importorskip("distributed")
    from distributed import Client

    shared = folder / "scheduler.json"
    commands = [["dask_scheduler", "--port", "0", "--host", "127.0.0.1"]]
    commands += [
        ["dask_worker", "--nworkers", "1", "--nthreads", "1", "--no-nanny", "--local-directory", str(folder)]
        for _ in environments
    ]
    processes = []
    try:
        for (name, *options), more in zip(commands, [{}, *environments], strict=True):
            command = [sys.executable, "-m", f"distributed.cli.{name}", *options]
            processes.append(
                subprocess.Popen(
                    [*command, "--no-dashboard", "--scheduler-file", str(shared)],
                    env={**os.environ, "DASK_DISTRIBUTED__WORKER__DAEMON": "False", **more},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
        with Client(scheduler_file=str(shared), timeout=TIMEOUT, set_as_default=False) as client:
            client.wait_for_workers(len(environments), timeout=TIMEOUT)
            yield f"dask://{client.scheduler.address.removeprefix('tcp://')}"
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(TIMEOUT)


def test_dask_cluster_gives_the_same_file(laboratory, expected, tmp_path):
    with dask(tmp_path, {}, {}) as address:
        path = tmp_path / "a.h5"
        sweep_in(laboratory, SPACE).run(path, over=address)
        assert path.read_bytes() == expected


SCALED = """import labtools
from artiq.experiment import *


class Scaled(EnvExperiment):
    def build(self):
        self.setattr_argument("x", NumberValue(1.0))

    def run(self):
        self.set_dataset("y", labtools.SCALE * self.x)
"""


@pytest.mark.long
def test_dask_worker_with_another_module_is_refused_until_it_has_the_same(tmp_path, monkeypatch):
    """The module is elsewhere than the experiment, so that it does not travel."""
    folders = [tmp_path / name for name in ("here", "there", "experiments")]
    for folder, scale in zip(folders, ("2", "3.25", None), strict=True):
        folder.mkdir()
        (folder / "labtools.py").write_text(f"SCALE = {scale}\n") if scale else None
    here, there, experiments = folders
    (experiments / "scaled.py").write_text(SCALED)
    (experiments / "device_db.py").write_text("device_db = {}\n")
    monkeypatch.setenv("PYTHONPATH", str(here))
    monkeypatch.syspath_prepend(str(here))
    made = Sweep(
        experiments / "scaled.py", Space((Dimension("x", [1.0, 2.0]),)), device_db=experiments / "device_db.py"
    )
    made.run(tmp_path / "local.h5", workers=1)
    with dask(tmp_path, {"PYTHONPATH": str(there)}) as address:
        with pytest.raises(KairosError, match=r"the worker tcp://.* has another module labtools: copy it"):
            made.run(tmp_path / "a.h5", over=address)
        (there / "labtools.py").write_text((here / "labtools.py").read_text())
        made.run(tmp_path / "a.h5", over=address)
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "local.h5").read_bytes()


@pytest.mark.long
def test_scanned_number_of_a_kernel_needs_one_compilation(laboratory, tmp_path, monkeypatch):
    """`length` is a number in the kernel: points load it as data; the results do not depend on what is kept."""
    space = Space((Dimension("length", [1e-6, 3e-6, 5e-6, 7e-6]),))
    assert sweep_in(laboratory, space).run(tmp_path / "without.h5", workers=1) == (4, 0)
    kept = tmp_path / "kernels"
    monkeypatch.setenv("KAIROS_CACHE", str(kept))
    assert sweep_in(laboratory, space).run(tmp_path / "first.h5", workers=2) == (4, 0)
    assert sweep_in(laboratory, space).run(tmp_path / "again.h5", workers=1) == (4, 0)
    # That with which workers warm up, and one for each worker, which has the sources in a folder of its own.
    assert len(list(kept.rglob("*.kernel"))) in (3, 4)
    contents = {(tmp_path / f"{name}.h5").read_bytes() for name in ("without", "first", "again")}
    assert len(contents) == 1
    with h5py.File(tmp_path / "first.h5") as file:
        device_s = file["device_s"][...]
    # The pulse is in each of the five shots.
    assert np.allclose(np.diff(device_s), 5 * 2e-6, atol=1e-7)


def test_copies_of_a_device_that_was_taught_do_the_same(laboratory, monkeypatch):
    monkeypatch.chdir(laboratory)
    ddb = DeviceDB.load(laboratory / "device_db.py")
    options = emulator.Options(bench=str(laboratory / "bench.toml"), entries=ddb.entries, settings=PATIENT)
    device = emulator.Emulator("ion", options)
    try:
        device.control.wait("ready")
        before = device.control.request("blocks")["blocks"]
        found = []
        for teaches in (True, False):
            with Twin(ddb, device=emulator.Copy(device, 7)) as twin:
                found.append(twin.rehearse(laboratory / "counts.py", "Counts", ["length=5 us"]))
                if teaches:
                    twin.device.teach()
        taught = device.control.request("blocks")["blocks"]
    finally:
        device.stop()
    assert all(len(now) > len(then) for now, then in zip(taught, before, strict=True))
    one, other = found
    assert one.passed and one.recording.event_count > 10
    assert differences(one.recording, other.recording) == [] and one.device_ns == other.device_ns
    assert one.datasets["counts"] == other.datasets["counts"]
    assert [vars(line) for line in one.lines] == [vars(line) for line in other.lines], "slack, too"


def test_point_that_uses_its_device_late_is_the_same(tmp_path):
    """Devices are not copied for points whose predecessors have used none."""
    for name in ("trap.py", "bench.toml"):
        (tmp_path / name).write_text((ION / name).read_text())
    (tmp_path / "device_db.py").write_text(database("ion", tmp_path).read_text())
    body = "    def run(self):\n        if self.fails:\n            self.count()\n\n    @kernel\n    def count(self):"
    text = COUNTS.replace("    @kernel\n    def run(self):", body)
    text = text.replace("        if self.fails:\n            delay(", "        if False:\n            delay(")
    (tmp_path / "counts.py").write_text(text)
    files = []
    for order in ([True, True], [False, True]):
        space = Space((Dimension("fails", order),))
        Sweep(tmp_path / "counts.py", space, device_db=tmp_path / "device_db.py").run(tmp_path / f"{order}.h5", 1)
        with h5py.File(tmp_path / f"{order}.h5") as file:
            assert set(file["error"].asstr()[()].tolist()) == {""}
            files.append((file["counts"][1].tolist(), float(file["device_s"][1])))
    assert files[0] == files[1] and files[0][1] > 0
