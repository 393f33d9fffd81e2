"""A laboratory under random submissions, changes of the queue and kills of everything: what was acknowledged is not
lost, nothing runs twice, and no process, folder or handle remains."""

import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import h5py
import pytest

from tests.support.gateware import built
from tests.support.hub import HUB, Hub
from tests.support.laboratory import Laboratory
from tests.support.paths import EXAMPLES
from tests.support.processes import processes
from tests.support.waiting import until

EXPERIMENTS = """
import time
from pathlib import Path
from artiq.experiment import *

HOME = Path(__file__).parents[1]


def begun(experiment):
    with (HOME / "begun").open("a") as file:
        print(experiment.scheduler.rid, file=file)


class Pausing(EnvExperiment):
    def build(self):
        self.setattr_device("scheduler")

    def run(self):
        begun(self)
        self.set_dataset("points", [], broadcast=True)
        for number in range(20):
            self.append_to_dataset("points", number)
            self.scheduler.pause()
            time.sleep(0.005)


class Kernel(EnvExperiment):
    def build(self):
        self.setattr_device("scheduler")
        self.setattr_device("core")
        self.setattr_device("ttl4")

    @kernel
    def pulse(self, number: TInt32):
        self.core.break_realtime()
        self.ttl4.pulse(1*us)
        self.append_to_dataset("points", number)

    def run(self):
        begun(self)
        self.set_dataset("points", [], broadcast=True)
        for number in range(5):
            self.pulse(number)
            self.scheduler.pause()
"""
POINTS = {"Quick": 3, "Pausing": 20, "Kernel": 5}
"""Points that a complete run of an experiment has."""
ENDS = {"completed", "failed", "deleted", "terminated", "interrupted"}
ACTS = {
    "submit": 28,
    "move": 3,
    "hold": 2,
    "terminate": 3,
    "force": 2,
    "kill run": 4,
    "kill fork server": 1,
    "kill laboratory": 1,
    "kill both": 1,
    "end laboratory": 1,
    "kill device": 1,
    "kill hub": 1,
}
"""How often each happens."""


def handles(pid: int) -> Counter:
    """Returns the open handles of a process, by what they are."""
    found: Counter = Counter()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found[os.readlink(link).split(":[")[0]] += 1
        except OSError:
            continue
    return found


def kill(pid: int):
    """Kill a process, unless it has ended meanwhile."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Endurance:
    """Random events in a laboratory, from `seed`, until `count` experiments were submitted."""

    def __init__(self, folder: Path, seed: int, count: int, device_db: str = "device_db = {}\n", with_hub=False):
        self.chance, self.count = random.Random(seed), count
        self.folder = folder / "lab"
        self.folder.mkdir()
        self.lab = Laboratory(self.folder, device_db=device_db)
        (self.folder / "repository" / "more.py").write_text(EXPERIMENTS)
        self.kinds = ["Quick", "Quick", "Pausing", "Pausing", "Broken"] + ["Kernel"] * ("core" in device_db) * 2
        self.acknowledged: dict[int, str] = {}
        self.hub_folder = folder / "hub" if with_hub else None
        self.hub: Hub | None = None
        self.happened: Counter = Counter()
        self.begun = self.reported = time.monotonic()

    def begin(self):
        self.lab.start()
        if self.hub_folder is not None:
            self.hub_folder.mkdir(exist_ok=True)
            self.hub = Hub(self.hub_folder, {}, entries=f"[laboratory]\nfolder = '{self.folder}'\n")

    def happen(self):
        """Let all of it happen."""
        acts, weights = list(ACTS), list(ACTS.values())
        while len(self.acknowledged) < self.count:
            (act,) = self.chance.choices(acts, weights)
            self.happened[act] += 1
            self.do(act)
            self.report()
            time.sleep(self.chance.random() / 20)

    def report(self):
        """Say how far it is, every ten seconds: with `pytest -s`, and in what is printed of a failure."""
        if time.monotonic() - self.reported > 10:
            self.reported = time.monotonic()
            waiting = len(self.lab.queue())
            print(
                f"{self.reported - self.begun:.0f} s: {len(self.acknowledged)} of {self.count} submitted, "
                f"{waiting} in the queue",
                flush=True,
            )

    def do(self, act: str):
        match act:
            case "submit":
                name = self.chance.choice(self.kinds)
                file = "lab.py" if name in ("Quick", "Broken") else "more.py"
                expid = {"file": file, "class_name": name, "arguments": {}, "repo_rev": None, "log_level": 30}
                rid = self.lab.submit(expid, self.chance.choice("ab"), self.chance.randrange(3))
                assert rid not in self.acknowledged, "a number is given once"
                self.acknowledged[rid] = name
            case "kill run":
                for pid in list(self.lab.pids().values())[:1]:
                    kill(pid)
            case "kill fork server":
                found = processes(self.folder)
                first = found.get(self.lab.process.pid)  # which is a fork of the laboratory
                for pid, command in found.items():
                    if ("forkserver" in command or command == first) and self.is_child(pid):
                        kill(pid)
            case "kill laboratory" | "kill both" | "end laboratory":
                self.lab.end() if act == "end laboratory" else self.lab.kill()
                if act == "kill both":
                    for pid in self.lab.pids().values():
                        kill(pid)
                time.sleep(self.chance.random() / 10)
                self.lab.start()
            case "kill device":
                for pid, command in processes(self.folder).items():
                    if "kairos.lab.device" in command:
                        kill(pid)
            case "kill hub":
                if self.hub is not None:
                    self.hub.process.kill()
                    self.hub.process.wait()
                    self.hub.process.stdout.close()
                    self.begin_hub_again()
            case _:
                self.change(act)

    def begin_hub_again(self):
        self.hub = Hub(self.hub_folder, {}, entries=f"[laboratory]\nfolder = '{self.folder}'\n")

    def is_child(self, pid: int) -> bool:
        try:
            return f"PPid:\t{self.lab.process.pid}\n" in Path(f"/proc/{pid}/status").read_text()
        except OSError:
            return False

    def change(self, act: str):
        """Change the queue."""
        queue = self.lab.queue()
        waiting = [run["rid"] for run in queue if run["status"] == "pending"]
        try:
            if act in ("terminate", "force") and queue:
                self.lab.terminate(self.chance.choice(queue)["rid"], act == "force")
            elif act == "move" and len(waiting) > 1:
                self.lab.move(*self.chance.sample(waiting, 2))
            elif act == "hold" and waiting:
                rid = self.chance.choice(waiting)
                self.lab.hold(rid)
                self.lab.release(rid)
        except Exception as error:  # it has gone on meanwhile
            known = ("already", "no run", "placed next to")
            assert any(text in str(error) for text in known), error

    def drain(self):
        """Wait until the queue is empty, as long as it gets shorter."""
        while left := len(self.lab.queue()):
            until(lambda left=left: len(self.lab.queue()) < left, lambda: str(self.lab.queue()))
            self.report()

    def check(self):
        """All that was acknowledged has ended, once; what is left is what there was before."""
        lab = self.lab
        self.drain()
        ended = {run["rid"]: run["status"] for run in lab.runs()}
        assert ended.keys() == self.acknowledged.keys()
        assert set(ended.values()) <= ENDS, ended
        twice = [rid for rid, times in Counter(lab.begun()).items() if times > 1]
        assert not twice, "these have run twice"
        for rid, status in ended.items():
            if status == "completed":
                assert rid in lab.begun() and self.acknowledged[rid] != "Broken"
                with h5py.File(lab.file_of(rid)) as file:
                    expected = list(range(POINTS[self.acknowledged[rid]]))
                    assert file["datasets/points"][()].tolist() == expected, rid
        assert lab.reindex()[1] == [] and {run["rid"] for run in lab.runs()} == ended.keys()
        until(lambda: not lab.pids() and not list((self.folder / ".kairos" / "runs").iterdir()))
        return Counter(ended.values())

    def check_handles(self):
        """A further run leaves no handle open in the laboratory."""
        self.lab.ends(self.lab.run_of("Quick"))
        until(lambda: not self.lab.pids())
        before = handles(self.lab.process.pid)
        for _ in range(5):
            self.acknowledged[rid := self.lab.run_of("Quick")] = "Quick"
            self.lab.ends(rid)
        until(lambda: not self.lab.pids())
        until(lambda: handles(self.lab.process.pid) <= before, lambda: f"{handles(self.lab.process.pid)} > {before}")

    def end(self):
        """End everything; no process is left."""
        if self.hub is not None:
            self.hub.close()
        self.lab.close()
        self.lab.output.close()
        until(lambda: not processes(self.folder), lambda: str(processes(self.folder)))
        left = {path.name for path in (self.folder / ".kairos").iterdir() if path.is_dir() and list(path.iterdir())}
        assert not left - {"exports"}, f"these folders are not empty: {left}"


def endure(endurance: Endurance):
    """Let everything happen, and check what is left; on a failure nothing is left running either."""
    try:
        endurance.begin()
        endurance.happen()
        print(dict(endurance.happened), dict(endurance.check()))
        endurance.check_handles()
        endurance.end()
    finally:
        for pid in processes(endurance.folder):
            kill(pid)


def test_laboratory_endures_forty_experiments_and_disturbances(tmp_path):
    endure(Endurance(tmp_path, 1, 40))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_laboratory_with_device_and_hub_endures_quarter_of_thousand_experiments(tmp_path, seed):
    built("demo")
    if not HUB.exists():
        pytest.skip("the hub is not built: make hub")
    endure(Endurance(tmp_path, seed, 250, (EXAMPLES / "device_db.py").read_text(), with_hub=True))
