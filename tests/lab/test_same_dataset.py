"""Runs that set the same dataset: the data of one are never mixed with those of another."""

import h5py

from tests.support.waiting import until

RUNS = """import time
from pathlib import Path
from artiq.experiment import *

HOME = Path(__file__).parents[1]


class Scan(EnvExperiment):
    def build(self):
        self.setattr_argument("n", NumberValue(3, precision=0, step=1, type="int"))

    def prepare(self):
        self.set_dataset("curve", [-1.0] * self.n, broadcast=True)

    def run(self):
        for at in range(self.n):
            while not (HOME / f"point-{self.n}-{at}").exists():
                time.sleep(0.01)
            self.mutate_dataset("curve", at, float(at))
"""


def curve(lab):
    return lab.datasets().get("curve", (False, None, {}))[1]


def submitted(lab, n, pipeline="main"):
    return lab.submit({**lab.expid("Scan", n=n), "file": "scan.py"}, pipeline)


def let(lab, n, *points):
    for at in points:
        (lab.folder / f"point-{n}-{at}").touch()


def test_run_that_is_prepared_leaves_the_data_of_the_running_one(lab):
    (lab.folder / "repository" / "scan.py").write_text(RUNS)
    first, second = submitted(lab, 5), submitted(lab, 2)
    let(lab, 5, 0)
    until(lambda: lab.status_of(second) == "prepare_done" and curve(lab) == [0.0, -1.0, -1.0, -1.0, -1.0])
    let(lab, 5, 1, 2, 3)
    until(lambda: curve(lab) == [0.0, 1.0, 2.0, 3.0, -1.0])
    let(lab, 5, 4)
    until(lambda: curve(lab) == [-1.0, -1.0])
    let(lab, 2, 0, 1)
    lab.ends(first), lab.ends(second)
    assert curve(lab) == [0.0, 1.0]
    assert not [record for record in lab.log(1000) if "is not shown" in record[3]]


def test_run_beside_another_takes_over_the_dataset_and_that_is_logged_once(lab):
    (lab.folder / "repository" / "scan.py").write_text(RUNS)
    first = submitted(lab, 5)
    let(lab, 5, 0)
    until(lambda: (curve(lab) or [None])[0] == 0.0)
    second = submitted(lab, 2, "other")
    let(lab, 2, 0)
    until(lambda: curve(lab) == [0.0, -1.0])
    let(lab, 5, 1, 2, 3, 4)
    assert lab.ends(first)["status"] == "completed"
    assert curve(lab) == [0.0, -1.0]
    said = [record[3] for record in lab.log(1000) if "curve" in record[3]]
    assert len(said) == 1 and f"what run {first} adds is in its file" in said[0], said
    with h5py.File(lab.file_of(first)) as file:
        assert list(file["datasets/curve"]) == [0.0, 1.0, 2.0, 3.0, 4.0]
    let(lab, 2, 1)
    assert lab.ends(second)["status"] == "completed" and curve(lab) == [0.0, 1.0]
