"""Names, values, files and disks of a sweep that are unusual: each gives a file, or one line that says what to do."""

import resource

import h5py
import numpy as np
import pytest

import kairos
from kairos import __version__, pyon
from kairos.errors import CommandLineError, UsageError
from kairos.twin.sweep import Uniform
from kairos.twin.sweep.journal import Journal
from kairos.twin.sweep.results import error_variable, write
from kairos.twin.sweep.run import Sweep
from kairos.twin.sweep.search import NoSuchObjective, Objective
from kairos.twin.sweep.space import Dimension, Space
from kairos.twin.sweep.task import Task

TWICE = """
class Twice(EnvExperiment):
    def build(self):
        self.setattr_argument("number", NumberValue(1.0))

    def run(self):
        self.set_dataset("twice", 2 * self.number)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "device_db.py").write_text("device_db = {}\n")
    (tmp_path / "twice.py").write_text(f"from kairos.experiment import *\n{TWICE}")
    return tmp_path


def written(path, space, **datasets):
    texts = {key: pyon.encode(value) for key, value in datasets.items()}
    results = [{"number": n, "error": None, "device_ns": 1, "datasets": texts} for n in range(space.size)]
    write(path, space, results, {"source": "\udce9\0"})
    xarray = pytest.importorskip("xarray")
    return xarray.load_dataset(path, engine="h5netcdf")


def test_scanned_arguments_keep_their_names_beside_the_own_names_of_the_file(tmp_path):
    names = ("seed", "error", "device_s", "sample", "repeat")
    space = Space((*(Dimension(name, [1, 2]) for name in names), Dimension("x", Uniform(0, 1))), 2, 3)
    found = written(tmp_path / "s.h5", space)
    assert all(found[name].values.tolist() == [1, 2] for name in names)
    assert found["sweep.error"].dims == (*names, "sweep.sample", "sweep.repeat")
    assert found["x"].dims == ("sweep.sample",) and found["sweep.seed"].size == space.size
    assert error_variable(space) == "sweep.error" and error_variable(Space(())) == "error"
    drawn = Space((Dimension("sample", Uniform(0, 1)),), samples=2)
    assert written(tmp_path / "d.h5", drawn)["sample"].dims == ("sweep.sample",)


def test_datasets_with_taken_names_or_paths_are_all_in_the_file(tmp_path):
    datasets = {"a/b": 1, "a": 2, "a.b": 3, "": 4, ".": 5, "/": 6, "x": [1, 2], "x_0": [1, 2, 3], "error": "e"}
    datasets |= {"n": 7, "dataset.n": 8, "text": "a\0b\udc80", "sweep.error": 9}
    found = written(tmp_path / "s.h5", Space((Dimension("n", [1.0]),)), **datasets)
    own = set(found.variables) - {"n", "error", "seed", "device_s"}
    assert len(own) == len(datasets) + 2  # the axes of the lists
    assert found["a"] == 2 and {found["a.b"].item(), found["dataset.a.b"].item()} == {1, 3}
    assert found["dataset.error"] == "e" and {found["dataset.n"].item(), found["dataset.n.2"].item()} == {7, 8}
    assert found["x"].dims == ("n", "axis.x_0") and found["x_0"].dims == ("n", "x_0_0")
    assert found["text"].item() == "a\\0b\\udc80" and found.attrs["source"] == "\\udce9\\0"


@pytest.mark.parametrize("values", [[[1, 2], [3, 4]], [[1], [2, 3]], [None, 1], ["a", 1], [np.ones(2), np.zeros(2)]])
def test_values_that_are_no_numbers_are_texts_along_their_axis(tmp_path, values):
    found = written(tmp_path / "s.h5", Space((Dimension("pairs", values),)))
    assert found["pairs"].shape == (2,) and found["pairs"].dtype.kind in "OU"


@pytest.mark.parametrize(
    "dimensions, said",
    [
        ([Dimension(1, [1.0])], "has a name"),
        ([Dimension("x", Uniform(3, 1))], "the lower number first"),
        ([Dimension("x", Uniform(-1.7e308, 1.7e308))], "no interval"),
    ],
)
def test_dimensions_that_are_none_are_refused(dimensions, said):
    with pytest.raises(CommandLineError, match=said):
        Space(tuple(dimensions), samples=2)


def test_values_given_in_python_are_taken_as_they_are(folder):
    scan = {"number": (n / 2 for n in range(3))}
    kairos.sweep("twice.py", scan, progress=False, workers=1)
    with h5py.File("sweep.h5") as file:
        assert file["twice"][...].tolist() == [0, 1, 2]
    kairos.sweep("twice.py", {}, "one.h5", progress=False, workers=1)
    with h5py.File("one.h5") as file:
        assert file["twice"][...] == 2


def test_script_that_sweeps_its_own_experiment_without_guard_is_refused(folder):
    call = 'kairos.sweep("script.py", {"number": [1.0]}, progress=False)'
    (folder / "script.py").write_text(f"import kairos\nfrom kairos.experiment import *\n{TWICE}\n{call}\n")
    with pytest.raises(Exception, match='script.py calls kairos.sweep when it is imported.*if __name__ == "__main__"'):
        kairos.sweep("script.py", {"number": [1.0]}, progress=False)
    with pytest.raises(UsageError, match="there is no file nix.py"):
        kairos.sweep("nix.py", {"number": [1.0]}, progress=False)


def test_class_of_a_notebook_is_refused_with_the_remedy():
    names = {"__name__": "a_notebook"}
    exec(f"from kairos.experiment import *\n{TWICE}", names)
    with pytest.raises(UsageError, match="%%writefile twice.py"):
        kairos.sweep(names["Twice"], {"number": [1.0]}, progress=False)


def test_files_in_other_encodings_travel_and_broken_benches_are_one_line(folder):
    text = f"# -*- coding: latin-1 -*-\n# caf\xe9\nfrom kairos.experiment import *\n{TWICE}"
    (folder / "latin.py").write_bytes(text.encode("latin-1"))
    (folder / "picture.bin").write_bytes(b"\0\1")
    made = Sweep("latin.py", Space((Dimension("number", [1.0]),)))
    task = Task.decode(made.task.encode())
    (folder / "copy").mkdir()
    task.write(folder / "copy")
    assert (folder / "copy" / "latin.py").read_bytes() == text.encode("latin-1")
    assert not (folder / "copy" / "picture.bin").exists()
    for content in (b"a = [\n", b"# caf\xe9\n"):
        (folder / "bench.toml").write_bytes(content)
        with pytest.raises(UsageError, match="bench.toml: "):
            Sweep("twice.py", Space((Dimension("number", [1.0]),)))


def test_full_disk_keeps_computed_points_and_is_reported(tmp_path):
    path = tmp_path / "s.h5.part"
    journal = Journal(path, "digest")
    allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, allowed[1]))
        journal.add('{"number": 0}')
        with pytest.raises(UsageError, match="s.h5.part cannot be written: .*the same command goes on"):
            journal.add("{" + "x" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
    journal.close()
    assert Journal(path, "digest").records == [b'{"number": 0}']
    for output in (tmp_path, path / "below" / "s.h5"):
        (tmp_path / "device_db.py").write_text("device_db = {}\n")
        (tmp_path / "twice.py").write_text(f"from kairos.experiment import *\n{TWICE}")
        made = Sweep(tmp_path / "twice.py", Space((Dimension("number", [1.0]),)), device_db=tmp_path / "device_db.py")
        with pytest.raises(UsageError, match="is a folder|cannot be written"):
            made.run(output)


@pytest.mark.parametrize(
    "text, said",
    [
        ("nix", "sets no dataset nix; it sets curve, name, one"),
        ("one[0]", r"leave \[0\] out"),
        ("curve", r"one of its 3 elements, as curve\[0\]"),
        ("curve[3]", "one of its 3 elements"),
        ("name", "has no numbers"),
    ],
)
def test_goal_that_is_no_number_is_refused_with_the_remedy(text, said):
    datasets = {"curve": pyon.encode([1, 2, 3]), "name": pyon.encode("x"), "one": pyon.encode(1.5)}
    with pytest.raises(NoSuchObjective, match=said):
        Objective(text).value({"datasets": datasets})
    assert Objective("curve[-1]").value({"datasets": datasets}) == 3


def test_wrong_goal_leaves_no_unfinished_part(folder):
    pytest.importorskip("optuna")
    space = Space((Dimension("number", Uniform(0, 1)),), samples=2)
    with pytest.raises(NoSuchObjective):
        Sweep("twice.py", space, goal=Objective("twise")).run("s.h5", workers=1)
    assert not (folder / "s.h5.part").exists()


def test_task_of_another_version_is_refused_by_a_worker():
    task = Task({"a.py": ""}, "a.py", None, "", None)
    other = pyon.encode(pyon.decode(task.encode().decode()) | {"version": "9.9", "unheard_of": 1}).encode()
    with pytest.raises(UsageError, match=f"by Kairos 9.9, its worker {__version__}"):
        Task.decode(other)


def test_module_from_elsewhere_that_has_changed_since_is_refused(folder, tmp_path_factory, monkeypatch):
    external = tmp_path_factory.mktemp("external")
    monkeypatch.setenv("PYTHONPATH", str(external))
    monkeypatch.syspath_prepend(external)
    (external / "of_the_laboratory.py").write_text("FACTOR = 2\n")
    text = (folder / "twice.py").read_text().replace("2 * self", "FACTOR * self")
    (folder / "twice.py").write_text(f"from of_the_laboratory import FACTOR\n{text}")
    space = Space((Dimension("number", [1.0, 2.0, 3.0]),))

    class Enough(Exception):
        pass

    def stop(done, _):
        raise Enough

    with pytest.raises(Enough):
        Sweep("twice.py", space).run("s.h5", workers=1, progress=stop)
    (external / "of_the_laboratory.py").write_text("FACTOR = 30\n")
    with pytest.raises(UsageError, match="of_the_laboratory.py has changed since the sweep began: .*without s.h5.part"):
        Sweep("twice.py", space).run("s.h5", workers=1)
    (external / "of_the_laboratory.py").write_text("FACTOR = 2\n")
    assert Sweep("twice.py", space).run("s.h5", workers=2) == (2, 0)
    with h5py.File("s.h5") as file:
        assert file["twice"][...].tolist() == [2, 4, 6]
