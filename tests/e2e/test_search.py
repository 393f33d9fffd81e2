"""`kairos sweep --maximize`: Optuna proposes the next points; the same file for any number of workers."""

import json

import h5py
import numpy as np
import pytest

from kairos.errors import CommandLineError, UsageError
from kairos.twin.sweep.run import Sweep
from kairos.twin.sweep.search import Objective
from kairos.twin.sweep.space import Dimension, Space, Uniform

PLAIN = """
from artiq.experiment import *


class Hill(EnvExperiment):
    def build(self):
        self.setattr_argument("x", NumberValue(0.0))
        self.setattr_argument("y", NumberValue(0.0))
        self.setattr_argument("n", NumberValue(0, precision=0, step=1, type="int"))

    def run(self):
        if self.x > 0.95:
            raise ValueError("too far")
        self.set_dataset("p", 1 - (self.x - 0.7) ** 2 - (self.y + 1) ** 2 + 1e-3 * self.n)
        self.set_dataset("both", [0.0, self.x])
        self.set_dataset("name", "a text")
"""
SPACE = Space((Dimension("x", Uniform(0, 1)), Dimension("y", Uniform(-3, 3))), samples=24, seed=5)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "hill.py").write_text(PLAIN)
    (tmp_path / "device_db.py").write_text("device_db = {}\n")
    return tmp_path


def search_in(folder, goal="p", space=None, **more):
    space = space or Space(SPACE.dimensions, samples=SPACE.samples, seed=SPACE.seed)
    return Sweep(folder / "hill.py", space, device_db=folder / "device_db.py", goal=Objective(goal, True), **more)


def test_search_finds_the_top_and_is_the_same_for_any_workers(folder):
    pytest.importorskip("optuna")
    sweep = search_in(folder)
    assert sweep.run(folder / "a.h5", workers=1) == (24, sum_of_failed(folder / "a.h5"))
    best = sweep.best
    with h5py.File(folder / "a.h5") as file:
        p = file["p"][...]
        assert best["value"] == np.nanmax(p) and best["sample"] == np.nanargmax(p)
        assert file["x"][best["sample"]] == best["values"]["x"]
        assert json.loads(file.attrs["best"]) == best and file.attrs["goal"] == "maximize p"
        # Better than as many random points: the second half is nearer to the top than the first.
        assert np.nanmean(p[12:]) > np.nanmean(p[:12])
    search_in(folder).run(folder / "b.h5", workers=3)
    assert (folder / "b.h5").read_bytes() == (folder / "a.h5").read_bytes()


def sum_of_failed(path) -> int:
    with h5py.File(path) as file:
        return sum(error != b"" for error in file["error"][...])


def test_search_that_was_interrupted_goes_on_alike(folder):
    pytest.importorskip("optuna")
    search_in(folder).run(folder / "a.h5", workers=2)

    class Enough(Exception):
        pass

    def stop(done, _):
        if done == 9:
            raise Enough

    with pytest.raises(Enough):
        search_in(folder).run(folder / "b.h5", workers=2, progress=stop)
    computed, _ = search_in(folder).run(folder / "b.h5", workers=1)
    assert computed == 15 and (folder / "b.h5").read_bytes() == (folder / "a.h5").read_bytes()


def test_repetitions_and_grids_count_by_their_mean(folder):
    pytest.importorskip("optuna")
    dimensions = (Dimension("n", [0, 2, 4]), Dimension("x", Uniform(0, 0.9)))
    sweep = search_in(folder, space=Space(dimensions, repeats=2, samples=6, seed=1))
    assert sweep.run(folder / "a.h5", workers=2) == (36, 0)
    with h5py.File(folder / "a.h5") as file:
        means = file["p"][...].mean(axis=(0, 2))
        assert file["p"].shape == (3, 6, 2)
        assert sweep.best["value"] == pytest.approx(means.max()) and sweep.best["sample"] == means.argmax()


@pytest.mark.parametrize(
    ("goal", "text"),
    [
        ("q", "sets no dataset q; it sets both, name, p"),
        ("both", "name one of its 2 elements"),
        ("name", "has no numbers"),
        ("both[2]", "is not a number"),
    ],
)
def test_goal_that_is_no_number_ends_the_search(folder, goal, text):
    pytest.importorskip("optuna")
    with pytest.raises(UsageError, match=text.replace("[", r"\[")):
        search_in(folder, goal).run(folder / "a.h5", workers=1)


def test_element_of_a_dataset_is_a_goal(folder):
    pytest.importorskip("optuna")
    space = Space((Dimension("x", Uniform(0, 0.9)),), samples=3)
    sweep = search_in(folder, "both[-1]", space)
    sweep.run(folder / "a.h5", workers=1)
    assert sweep.best["value"] == sweep.best["values"]["x"]


def test_search_without_random_values_is_refused(folder):
    with pytest.raises(CommandLineError, match="random values"):
        search_in(folder, space=Space((Dimension("x", [0.0, 1.0]),)))


def test_command_prints_the_best_values(kairos, folder):
    pytest.importorskip("optuna")
    words = ["sweep", folder / "hill.py", "--scan", "x=0~0.9", "--samples", "5", "--workers", "1"]
    done = kairos(*words, "--maximize", "p", device_db=folder / "device_db.py")
    assert done.returncode == 0 and "\nbest: x = 0." in done.stdout and " with p = " in done.stdout, done.stderr
    done = kairos(*words, "--maximize", "p", "--minimize", "p", device_db=folder / "device_db.py")
    assert done.returncode != 0 and "one goal" in done.stderr
