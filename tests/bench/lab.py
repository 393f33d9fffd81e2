"""The laboratory: from start to the end of runs, scans, points per second, searches."""

import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.support.gateware import built
from tests.support.laboratory import Laboratory
from tests.support.paths import BUILD
from tests.support.waiting import until

from .lab_load import load_figures

__all__ = ["PREFIXES", "lab_figures"]

PREFIXES = ("lab.",)
RUNS = 15
POINTS = 100_000
FILES = 84
INDEXED = 100_000
SEARCHES = (
    ["ramsey"],
    ["scans/7.py"],
    ["detuning>=5e5", "detuning<6e5"],
    ["detuning>=5e5"],
    ["detuning<1e5"],
    ["nothing of the kind"],
)

QUICK = """
import time
from artiq.experiment import *
class Timed(EnvExperiment):
    def run(self):
        self.set_dataset("begun", time.time(), broadcast=True)
"""
POINTS_PER_S = """
import time
from artiq.experiment import *
class Points(EnvExperiment):
    def run(self):
        self.set_dataset("y", [], broadcast=True)
        for number in range(COUNT):
            self.append_to_dataset("y", number / 7)
"""
KERNEL_POINTS = """
import time
from artiq.experiment import *
class Points(EnvExperiment):
    def build(self):
        self.setattr_device("core")
    def run(self):
        self.set_dataset("y", [], broadcast=True)
        self.set_dataset("begun", time.time(), broadcast=True)
        self.measure()
    @kernel
    def measure(self):
        for number in range(COUNT):
            self.append_to_dataset("y", number / 7.0)
"""
SCANNED = """
from artiq.experiment import *
import numpy
class Scan{number}(EnvExperiment):
    '''Scan {number}'''
    def build(self):
        self.setattr_device("core")
        self.setattr_argument("points", NumberValue({number}, precision=0, step=1, type="int"))
        self.setattr_argument("detuning", Scannable(RangeScan(-1e3, 1e3, 11), unit="kHz"))
    @kernel
    def run(self):
        self.core.reset()
"""


def lab_figures(figures):
    """A laboratory without devices, and the start of one on an emulated device."""
    _start(figures)
    _cold(figures)
    _kernel_points(figures)
    with tempfile.TemporaryDirectory() as name:
        lab = Laboratory(Path(name))
        (lab.folder / "repository" / "lab.py").write_text(QUICK)
        (lab.folder / "repository" / "points.py").write_text(POINTS_PER_S.replace("COUNT", str(POINTS)))
        lab.start()
        try:
            until(lambda: len(lab.experiments()["experiments"]) == 2)
            _latencies(figures, lab)
            _points(figures, lab)
            _killed(figures, lab)
            _scans(figures, lab)
            _searches(figures, lab)
            load_figures(figures, lab)
        finally:
            lab.close()


def _kernel_points(figures):
    """Points appended one by one by a kernel on an emulated device, through to four subscribers."""
    built("ion")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lab = Laboratory(folder, device_db=(BUILD / "gateware" / "ion" / "device_db.py").read_text())
        (folder / "repository" / "lab.py").write_text(KERNEL_POINTS.replace("COUNT", str(POINTS)))
        lab.start()
        try:
            until(lambda: lab.experiments()["experiments"])
            received = _received(lab, lambda: lab.submit(_expid("Points")), time.time)
            seconds = max(received) - lab.datasets()["begun"][1]
            until(lambda: not lab.queue())
        finally:
            lab.close()
    figures.add(
        "lab.kernel_append_points_per_s",
        POINTS / seconds,
        "1/s",
        target=20_000,
        at_least=True,
        source=f"{POINTS} calls of append_to_dataset by a kernel, until four subscribers have all",
    )


def _start(figures):
    """Time from the command to the line that says that the laboratory is up, with an emulated device."""
    built("ion")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "device_db.py").write_bytes((BUILD / "gateware" / "ion" / "device_db.py").read_bytes())
        (folder / "lab.toml").write_text(
            "[ports]\nnotify = 0\ncontrol = 0\nlogging = 0\nbroadcast = 0\ncontrollers = 0\n"
        )
        times = []
        for _ in range(3):
            begun = time.perf_counter()
            command = [sys.executable, "-m", "kairos", "lab", "--lab", name]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            assert "is up" in process.stdout.readline()
            times.append(time.perf_counter() - begun)
            process.send_signal(signal.SIGINT)
            process.wait()
            # The device lingers for the next start.
            until(lambda: not (folder / ".kairos" / "device-0.sock").exists())
    source = "kairos lab on an emulated device: from the command until clients can connect"
    figures.add("lab.start_s", statistics.median(times), "s", target=5, source=source)


def _expid(name, file="lab.py"):
    return {"file": file, "class_name": name, "repo_rev": None, "log_level": 30}


def _cold(figures):
    """From the first submission to a laboratory that has just started to run()."""
    times = []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as name:
            lab = Laboratory(Path(name))
            (lab.folder / "repository" / "lab.py").write_text(QUICK)
            lab.start()
            try:
                begun = time.time()
                lab.ends(lab.submit(_expid("Timed")))
                times.append(1e3 * (lab.datasets()["begun"][1] - begun))
            finally:
                lab.close()
    source = "the same for the first submission to a laboratory that has just started"
    figures.add("lab.submit_to_run_cold_ms", statistics.median(times), "ms", target=150, source=source)


def _latencies(figures, lab):
    """From the submission to run(), and between the runs of a full queue."""
    first = []
    for number in range(RUNS + 1):
        begun = time.time()
        lab.ends(lab.submit(_expid("Timed")))
        if number:
            first.append(1e3 * (lab.datasets()["begun"][1] - begun))
    figures.add(
        "lab.submit_to_run_ms",
        statistics.median(first),
        "ms",
        target=60,
        baseline=150,
        source="from submit() of a client to run(), queue empty, fork server warm",
    )
    rids = [lab.submit(_expid("Timed")) for _ in range(RUNS + 1)]
    lab.ends(rids[-1])
    runs = [lab.run(rid) for rid in rids]
    gaps = [1e3 * (after["run_time"] - before["run_time"]) for before, after in zip(runs, runs[1:], strict=False)]
    figures.add(
        "lab.gap_between_runs_ms",
        statistics.median(gaps),
        "ms",
        target=50,
        baseline=150,
        source="between run() of consecutive empty experiments of a pipeline; baseline: ARTIQ on Linux, reported",
    )


def _received(lab, begin, clock=time.perf_counter) -> list[float]:
    """Return when each of four subscribers has all points of what `begin` has begun."""
    received = []
    threads = [threading.Thread(target=_follow, args=(lab, received, clock)) for _ in range(4)]
    for thread in threads:
        thread.start()
    begin()
    for thread in threads:
        thread.join()
    assert len(received) == 4
    return received


def _follow(lab, received, clock):
    """Count the points that a subscriber of the datasets receives, until it has all."""
    with socket.create_connection(("127.0.0.1", lab.ports["notify"])) as connection:
        connection.sendall(b"ARTIQ sync_struct\ndatasets\n")
        count = 0
        with connection.makefile("rb", buffering=1 << 20) as lines:
            for line in lines:
                if line.startswith(b'{"action": "append"'):
                    count += 1
                elif line.startswith(b'{"action": "init"'):
                    count = len(json.loads(line)["struct"].get("y", [0, []])[1])
                if count == POINTS:
                    received.append(clock())
                    return


def _points(figures, lab):
    """Points appended one by one, through to four subscribers."""
    begun = time.perf_counter()
    received = _received(lab, lambda: lab.submit(_expid("Points", "points.py")))
    figures.add(
        "lab.append_points_per_s",
        POINTS / (max(received) - begun),
        "1/s",
        target=20_000,
        at_least=True,
        source=f"{POINTS} calls of append_to_dataset, from submit() until four subscribers have all",
    )


def _killed(figures, lab):
    """Age of the newest point that a killed run leaves behind."""
    text = POINTS_PER_S.replace("COUNT", "10**9").replace("number / 7", "time.time()").replace("Points", "Endless")
    (lab.folder / "repository" / "endless.py").write_text(text)
    lost = []
    for _ in range(5):
        rid = lab.submit(_expid("Endless", "endless.py"))
        until(lambda rid=rid: lab.status_of(rid) == "running")
        time.sleep(0.5)
        os.kill(lab.pids()[rid], signal.SIGKILL)
        killed = time.time()
        lab.ends(rid)
        lost.append(killed - _last(lab.file_of(rid)))
    source = "from the last stored point to SIGKILL of its run"
    figures.add("lab.lost_after_sigkill_s", max(lost), "s", target=1, source=source)


def _last(file: Path) -> float:
    import h5py

    with h5py.File(file) as results:
        return float(results["datasets/y"][-1])


def _scans(figures, lab):
    """A repository of 84 files."""
    folder = lab.folder / "repository"
    for number in range(FILES):
        (folder / f"scan{number}.py").write_text(SCANNED.format(number=number))

    def scan() -> float:
        begun = time.perf_counter()
        lab.scan()
        return time.perf_counter() - begun

    new = scan()
    (folder / "scan7.py").write_text(SCANNED.format(number=7) + "\n# changed\n")
    one = scan()
    same = statistics.median(scan() for _ in range(5))
    where = f"scan of {FILES} files"
    baseline = 63
    for name, value, target, what in (
        ("new", new, 3, "all new"),
        ("one", one, 1, "one changed"),
        ("same", same, 0.1, "unchanged"),
    ):
        figures.add(
            f"lab.scan_84_files_{name}_s", value, "s", target=target, baseline=baseline, source=f"{where}, {what}"
        )


def _searches(figures, lab):
    """A search by text and by an argument among 100,000 runs."""
    from kairos.lab import history
    from kairos.lab.database import Database

    database = Database(f"sqlite:///{lab.folder / 'index.db'}")
    for start in range(0, INDEXED, 5000):
        records = [_record(rid) for rid in range(start, start + 5000)]
        with database.change() as change:
            history.enter(change, records)
    times = []
    for words in SEARCHES * 3:
        begun = time.perf_counter()
        history.records(database, words, 50)
        times.append(1e3 * (time.perf_counter() - begun))
    database.close()
    count = len(SEARCHES)
    slowest = max(statistics.median(times[at::count]) for at in range(count))
    source = (
        f"slowest of {count} searches (text, file, ranges of an argument that few, half or the oldest tenth of the "
    )
    source += f"runs match, no match) among {INDEXED} runs"
    figures.add("lab.runs_filter_ms", slowest, "ms", target=100, source=source)


def _record(rid: int) -> dict:
    return {
        "rid": rid,
        "class_name": ["RabiFlop", "Ramsey", "Calibration", "Loading"][rid % 4],
        "file": f"scans/{rid % 50}.py",
        "status": "completed",
        "arguments": {"detuning": str(rid * 10), "shots": "100"},
    }
