"""Runs that have ended: analyzed again with their own source, exported, and as data in a notebook."""

import csv
import json
import sqlite3

import h5py
import numpy as np
import pyarrow.feather
import pyarrow.parquet
import pytest

import kairos.lab
from kairos.errors import UsageError
from tests.support.command import one_line, run_kairos

SOURCE = """from artiq.experiment import *
import helper


class Scan(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("camera")
        self.setattr_argument("n", NumberValue(4, precision=0, step=1, type="int"))

    def run(self):
        self.set_dataset("x", [float(n) for n in range(self.n)], broadcast=True, unit="ms", scale=1e-3)
        self.set_dataset("y", np.arange(self.n) ** 2.0)
        self.set_dataset("grid", np.ones((2, 3)))
        self.set_dataset("label", "a text")
        self.offset = self.get_dataset("offset")

    def analyze(self):
        y = self.get_dataset("y")
        self.set_dataset("result", FACTOR * float(sum(y)) + self.get_dataset("offset"), broadcast=True, persist=True)
""".replace("import helper\n", "import helper\nimport numpy as np\n")


@pytest.fixture
def scan(lab):
    """A laboratory with a run; returns also the path of its source."""
    source = lab.folder / "repository" / "scan.py"
    (lab.folder / "repository" / "helper.py").write_text("")
    source.write_text(
        SOURCE.replace("FACTOR", "1.0")
        .replace('        self.setattr_device("camera")\n', "")
        .replace('        self.setattr_device("core")\n', "")
    )
    lab.set_dataset("offset", 100.0, True)
    record = lab.ends(lab.submit({"file": "scan.py", "arguments": {"n": 4}, "repo_rev": None}))
    assert record["status"] == "completed", record["error"]
    return lab, source


def test_analysis_is_repeated_with_the_source_and_data_of_the_run(scan):
    lab, source = scan
    assert lab.datasets()["result"][1] == 114.0
    source.write_text("raise RuntimeError('changed since')")
    lab.set_dataset("offset", 5.0, True)
    lab.set_dataset("result", 1.0, True)
    record = lab.ends(lab.analyze(0))
    assert (record["status"], record["pipeline"], record["error"]) == ("completed", "analysis", None)
    assert record["numbers"]["result"] == [114.0, None], "with the offset of then"
    with h5py.File(lab.file_of(record["rid"])) as file:
        assert file["datasets/y"][()].tolist() == [0, 1, 4, 9] and file["datasets/x"].attrs["unit"] == "ms"
    assert lab.datasets()["result"][1] == 1.0 and lab.datasets()["offset"][1] == 5.0, "nothing live has changed"
    again = lab.ends(lab.analyze(record["rid"]))
    assert again["numbers"]["result"] == [114.0, None]
    missing = lab.ends(lab.submit({"file": "none.py", "repo_rev": None}))
    with pytest.raises(UsageError, match=f"run {missing['rid']} has no data to analyze"):
        lab.analyze(missing["rid"])
    done = run_kairos("runs", "analyze", "0", "--wait", cwd=lab.folder)
    assert done.returncode == 0 and done.stdout.endswith(": completed\n")


def test_value_of_a_parameter_names_the_runs_that_have_used_it(scan):
    lab, source = scan
    expid = {"file": "scan.py", "arguments": {"n": 4}, "repo_rev": None}
    lab.ends(lab.submit(expid))
    lab.set_dataset("offset", 5.0, True)
    lab.ends(lab.submit(expid))
    lab.ends(lab.run_of("Quick"))
    for _ in range(2):
        newest, oldest = lab.parameter_history("offset")
        assert (newest["value"], newest["used"], oldest["used"]) == ("5.0", [2], [1, 0])
        (only,) = lab.parameter_history("offset", 1)
        assert only["used"] == [2]
        lab.reindex()
    shown = run_kairos("parameters", "history", "offset", cwd=lab.folder).stdout.splitlines()
    assert ["run 2" in shown[1], "run 1, 0" in shown[2]] == [True, True], shown
    # Records of earlier versions have no times.
    for path in (lab.folder / "results").glob("*/*/00000000[01]-*.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "read": ["offset"]}))
    lab.reindex()
    assert [write["used"] for write in lab.parameter_history("offset")] == [[2], [1, 0]]


def test_runs_and_points_are_exported_as_tables(scan):
    lab, _ = scan
    lab.ends(lab.run_of("Broken"))

    def kairos_in(*words):
        return run_kairos(*words, cwd=lab.folder)

    assert kairos_in("runs", "export", "-o", "runs.parquet").stdout == "runs.parquet: 2 runs\n"
    table = pyarrow.parquet.read_table(lab.folder / "runs.parquet").to_pydict()
    assert table["rid"] == [1, 0] and table["arguments.n"] == [None, 4] and table["result"] == [None, 114.0]
    assert kairos_in("runs", "export", "--points", "0", "-o", "points.arrow").stdout == "points.arrow: 4 rows\n"
    points = pyarrow.feather.read_table(lab.folder / "points.arrow").to_pydict()
    assert points == {"x": [0, 1, 2, 3], "y": [0, 1, 4, 9]}
    assert kairos_in("runs", "export", "status=completed", "-o", "runs.csv").returncode == 0
    with (lab.folder / "runs.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert row["class_name"] == "Scan" and float(row["result"]) == 114
    one_line(kairos_in("runs", "export", "-o", "runs.xls"), "must end in .parquet, .arrow, .csv", 2)
    one_line(kairos_in("runs", "export", "--points", "1", "-o", "x.csv"), "run 1 has no lists of numbers")
    with sqlite3.connect(lab.folder / ".kairos" / "lab.db") as database:
        found = database.execute("select rid, class_name, name, number from run_results").fetchall()
        given = database.execute("select rid, name, number from run_arguments").fetchall()
    assert (0, "Scan", "result", 114.0) in found and given == [(0, "n", 4.0)]


def test_runs_are_data_in_a_notebook(scan, monkeypatch):
    lab, _ = scan
    monkeypatch.chdir(lab.folder)
    place = kairos.lab.connect()
    assert place.queue() == [] and "offset" in place.datasets(), "all methods of the service are there"
    (run,) = place.runs("Scan", "n>=4")
    assert (run.rid, run.status, run.experiment, run.arguments) == (0, "completed", "Scan", {"n": 4})
    assert run.numbers["result"] == (114.0, None) and run.metadata("x") == {"unit": "ms", "scale": 1e-3}
    assert run.datasets["label"] == "a text" and np.array_equal(run.datasets["grid"], np.ones((2, 3)))
    assert set(run.columns()) == {"x", "y"} and repr(run) == "<run 0: Scan, completed>"
    assert place.run(0).datasets.keys() == run.datasets.keys() and place.runs("n>4") == []
    with pytest.raises(UsageError, match="there is no finished run 9"):
        place.run(9)
