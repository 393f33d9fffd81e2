"""Theory curves: what the twin has measured in the rehearsal of a run, as datasets of the run."""

from concurrent.futures import ThreadPoolExecutor

import h5py
import pytest

from kairos.labclient import connect
from tests.support.laboratory import Laboratory
from tests.support.waiting import until

SETTINGS = """
[rehearsal]
default = "must"
pipelines = { warned = "warn", plain = "off" }
within_s = 3
"""


@pytest.fixture
def lab(tmp_path):
    laboratory = Laboratory(tmp_path, f"{SETTINGS}theory = true\n").start()
    yield laboratory
    laboratory.close()


def stored(path) -> dict:
    """Return the datasets in the file of a run, with their attributes."""
    with h5py.File(path) as file:
        return {key: (value[()].tolist(), dict(value.attrs)) for key, value in file["datasets"].items()}


def test_run_begins_with_the_curve_of_its_rehearsal(lab):
    rid = lab.run_of("Quick", n=4)
    assert lab.ends(rid)["status"] == "completed"
    found = stored(lab.file_of(rid))
    assert found["theory.points"][0] == found["points"][0] == [0, 1, 2, 3]
    assert found["theory.points"][1]["unit"] == "ms"
    assert "theory.total" not in found  # a number is no curve
    assert "theory.points" in lab.datasets()


def test_run_that_has_begun_gets_the_curve_with_a_later_point(lab):
    rid = lab.run_of("Patient", pipeline="warned")
    until(lambda: "theory.patient" in lab.datasets())
    lab.release_run("patient")
    assert lab.ends(rid)["status"] == "completed"
    found = stored(lab.file_of(rid))
    length = len(found["theory.patient"][0])
    assert length > 1 and found["theory.patient"][0] == list(range(length))


def test_curve_of_an_earlier_run_is_not_shown_beside_the_data_of_another_one(lab):
    lab.ends(lab.run_of("Quick", n=4))
    assert lab.datasets()["theory.points"]
    rid = lab.run_of("Quick", pipeline="plain", n=2)
    assert lab.ends(rid)["status"] == "completed"
    assert "theory.points" not in lab.datasets() and "points" in lab.datasets()
    rid = lab.run_of("Quick", n=3)
    lab.ends(rid)
    assert stored(lab.file_of(rid))["theory.points"][0] == [0, 1, 2]
    until(lambda: "theory.points" in lab.datasets())


def test_runs_have_no_curves_unless_they_are_wanted(tmp_path):
    lab = Laboratory(tmp_path, SETTINGS).start()
    try:
        rid = lab.run_of("Quick")
        assert lab.ends(rid)["status"] == "completed"
        assert set(stored(lab.file_of(rid))) == {"points", "total"}
    finally:
        lab.close()


def test_rehearsal_gives_curves_with_other_numbers_of_the_bench(lab):
    (lab.folder / "bench.toml").write_text("[ion.a]\nphotons = 1e7\nshots = 3\nlatched = true\n")
    asked = lab.rehearse(lab.expid("Quick", n=4), {}, True)
    assert asked["theory"]["points"][0].tolist() == [0, 1, 2, 3]
    assert asked["numbers"] == {"ion.a.photons": 1e7, "ion.a.shots": 3.0}
    rid = lab.run_of("Quick", n=2)
    lab.ends(rid)
    found = lab.rehearse(rid, {"ion.a.photons": 2e7, "ion.a.shots": 5.0}, True)
    assert found["passed"] and found["theory"]["points"][0].tolist() == [0, 1], "of a run, with its arguments"
    assert found["numbers"] == asked["numbers"], "the file has its own"
    refused = lab.rehearse(rid, {"speed": 1.0}, True)
    assert not refused["passed"] and "the bench file has no number speed" in refused["sentence"]
    assert "theory" not in lab.rehearse(lab.expid("Quick"))


NUMBERED = """from artiq.experiment import *


class Numbered(EnvExperiment):
    def build(self):
        self.setattr_device("scheduler")

    def run(self):
        self.set_dataset(f"scan.rid_{self.scheduler.rid}", [1.0, 2.0], broadcast=True)
"""


def test_curves_named_by_their_run_are_beside_its_data(lab):
    (lab.folder / "repository" / "numbered.py").write_text(NUMBERED)
    lab.ends(lab.run_of("Quick"))
    rid = lab.submit({**lab.expid("Numbered"), "file": "numbered.py"})
    assert lab.ends(rid)["status"] == "completed" and rid > 0
    assert {f"scan.rid_{rid}", f"theory.scan.rid_{rid}"} <= stored(lab.file_of(rid)).keys()
    assert lab.rehearse(rid, {}, True)["theory"].keys() == {f"scan.rid_{rid}"}


def test_many_viewers_of_a_slow_twin_share_it_and_delay_no_submission(tmp_path):
    """Each rehearsal of a patient run takes as long as it may."""
    lab = Laboratory(tmp_path, SETTINGS.replace("within_s = 3", "within_s = 1")).start()

    def ask(name):
        return connect(lab.folder).rehearse(lab.expid("Patient", name=name), {}, True)

    try:
        with ThreadPoolExecutor(9) as viewers:
            asked = [viewers.submit(ask, name) for name in 3 * ["one", "other", "third"]]
            assert lab.rehearsed(lab.run_of("Quick"))["passed"]
            assert not all(each.done() for each in asked)
            answers = [each.result() for each in asked]
    finally:
        lab.close()
    assert all("points" in each["sentence"] for each in answers)
    assert len({each["wall_s"] for each in answers}) < 9
