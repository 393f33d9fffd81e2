"""What a laboratory costs: memory and processor time after many runs and while points come, bytes in files, and the
rebuilding of its index."""

import os
import socket
import threading
import time
from pathlib import Path

from tests.support.waiting import until

__all__ = ["load_figures"]

FILE = "load.py"
MANY = 1000
"""Runs before its memory is measured."""
IDLE = 20.0
"""Seconds for which it is left alone."""
POINTS = 100_000
BLOCK = 1000
"""Points that are appended at once, ten times a second."""
VIEWERS = 4

EXPERIMENTS = """
import time
from artiq.experiment import *
class Scalars(EnvExperiment):
    def run(self):
        for number in range(100):
            self.set_dataset(f"scalar_{number}", number / 7)
class Steady(EnvExperiment):
    def run(self):
        self.set_dataset("steady", [], broadcast=True)
        begun = time.monotonic()
        for block in range(COUNT // BLOCK):
            for number in range(BLOCK):
                self.append_to_dataset("steady", number / 7)
            time.sleep(max(0.0, begun + (block + 1) / 10 - time.monotonic()))
"""


def load_figures(figures, lab, many: int = MANY, idle: float = IDLE, points: int = POINTS):
    """Figures of a laboratory that runs."""
    text = EXPERIMENTS.replace("COUNT", str(points)).replace("BLOCK", str(BLOCK))
    (lab.folder / "repository" / FILE).write_text(text)
    lab.scan()
    _files(figures, lab)
    _appended(figures, lab, points)
    _after_many(figures, lab, many, idle)
    _reindexed(figures, lab)


def _expid(name: str) -> dict:
    return {"file": FILE, "class_name": name, "repo_rev": None, "log_level": 30}


def _files(figures, lab):
    """Bytes that a scalar takes in the file of its run, compared with a file without any."""
    import h5py

    rid = lab.submit(_expid("Scalars"))
    lab.ends(rid)
    path = lab.file_of(rid)
    size = path.stat().st_size
    bare = path.with_name("bare.h5")
    with h5py.File(path) as whole, h5py.File(bare, "w") as without:
        count = len(whole["datasets"])
        for name in whole:
            if name not in ("datasets", "archive"):
                whole.copy(name, without)
    share = (size - bare.stat().st_size) / count
    bare.unlink()
    source = f"{count} scalars of a run, not archived: size of its file, less that of everything else in it"
    figures.add("lab.hdf5_bytes_per_scalar", share, "bytes", source=source)


def _processor_time(pid: int) -> float:
    """Returns the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _view(port: int, ended: threading.Event):
    """Receive whatever comes, until the end."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"ARTIQ sync_struct\ndatasets\n")
        connection.settimeout(0.2)
        while not ended.is_set():
            try:
                connection.recv(1 << 20)
            except TimeoutError:
                continue


def _appended(figures, lab, points: int):
    """Processor time of the laboratory while points come at a steady rate, with viewers."""
    ended = threading.Event()
    viewers = [threading.Thread(target=_view, args=(lab.ports["notify"], ended)) for _ in range(VIEWERS)]
    for viewer in viewers:
        viewer.start()
    rid = lab.submit(_expid("Steady"))
    until(lambda: lab.status_of(rid) == "running")
    before, begun = _processor_time(lab.process.pid), time.perf_counter()
    lab.wait(rid)
    share = (_processor_time(lab.process.pid) - before) / (time.perf_counter() - begun)
    ended.set()
    for viewer in viewers:
        viewer.join()
    source = f"{points} points, {BLOCK} every 0.1 s, {VIEWERS} viewers: processor time of the laboratory per second"
    figures.add("lab.append_cpu_share", share, "1", target=0.1, source=source)


def _after_many(figures, lab, many: int, idle: float):
    """Memory, and processor time when there is no work, after many runs."""
    rids = [lab.submit(_expid("Scalars")) for _ in range(many)]
    lab.wait(rids[-1])
    until(lambda: not lab.queue())
    status = Path(f"/proc/{lab.process.pid}/status").read_text()
    resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")) / 1024
    figures.add("lab.rss_mib", resident, "MiB", source=f"resident memory of the laboratory after {many} runs")
    before = _processor_time(lab.process.pid)
    time.sleep(idle)
    share = (_processor_time(lab.process.pid) - before) / idle
    source = f"processor time of the idle laboratory per second, over {idle:g} s, after {many} runs"
    figures.add("lab.idle_cpu_share", share, "1", target=0.01, source=source)


def _reindexed(figures, lab):
    """Runs per second when the index is rebuilt from their files."""
    begun = time.perf_counter()
    count, problems = lab.reindex()
    assert not problems, problems
    source = f"the index of {count} runs, rebuilt from their files"
    figures.add("lab.reindex_runs_per_s", count / (time.perf_counter() - begun), "1/s", at_least=True, source=source)
