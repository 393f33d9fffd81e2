"""The repository of a laboratory under test: experiments are rehearsed with their defaults when they have changed."""

import json

import pytest

from kairos.controllers import Client
from tests.support.command import run_kairos
from tests.support.laboratory import Laboratory
from tests.support.waiting import until

SETTINGS = """
[rehearsal]
commits = true
"""
QUICK = """from artiq.experiment import *
from counts import COUNT


class Quick(EnvExperiment):
    def build(self):
        self.setattr_argument("more", NumberValue(0, precision=0, step=1, type="int"))

    def run(self):
        self.set_dataset("points", [])
        for number in range(COUNT + self.more):
            self.append_to_dataset("points", number)
"""
OTHERS = """from artiq.experiment import *


class Broken(EnvExperiment):
    def run(self):
        raise ValueError("of the user")


class Common(EnvExperiment):
    def build(self):
        self.setattr_argument("length", NumberValue())


class Asks(Common):
    def run(self):
        pass


class Built(Common):
    pass
"""
IMPORTED = "from quick import Quick\n"


@pytest.fixture
def lab(tmp_path):
    made = Laboratory(tmp_path, SETTINGS)
    folder = made.folder / "repository"
    for file in folder.glob("*.py"):
        file.unlink()
    (folder / "quick.py").write_text(QUICK)
    (folder / "others.py").write_text(OTHERS)
    (folder / "reuse.py").write_text(IMPORTED)
    (folder / "counts.py").write_text("COUNT = 3\n")
    yield made.start()
    made.close()


def rehearsed(lab, count):
    """Return what is known, by class, once so many experiments are rehearsed."""

    def found():
        answer = lab.rehearsed_experiments()
        return answer["experiments"] if answer["done"] and len(answer["experiments"]) == count else None

    until(found, lambda: (lab.folder / "output").read_text())
    return {name.rpartition("/")[2]: each for name, each in found().items()}


def test_experiments_that_have_changed_are_rehearsed_and_compared(lab):
    first = rehearsed(lab, 3)
    assert {name: each["passed"] for name, each in first.items()} == {"Quick": True, "Broken": False, "Asks": True}
    assert "fails at others.py:6: ValueError" in first["Broken"]["sentence"]
    assert first["Asks"]["sentence"] == "is not rehearsed: argument length has no default"
    assert first["Quick"]["points"] == 3 and first["Quick"]["changes"] == []
    (lab.folder / "repository" / "counts.py").write_text("COUNT = 5\n")
    lab.scan()
    second = rehearsed(lab, 3)
    assert second["Quick"]["changes"] == ["3 points before", "mean of points 2, 1 before"]
    assert second["Broken"] == first["Broken"], "nothing that it consists of has changed"
    done = run_kairos("experiments", "rehearsed", "--lab", str(lab.folder))
    assert done.returncode == 1, done.stdout
    assert "Quick: rehearsed: 5 points (3 points before; mean of points 2, 1 before)" in done.stdout, done.stdout
    lines = run_kairos("experiments", "rehearsed", "--json", "--lab", str(lab.folder)).stdout.splitlines()
    assert {json.loads(line)["passed"] for line in lines} == {True, False}
    # The same experiments on another twin.
    with (lab.folder / "device_db.py").open("a") as file:
        file.write('device_db["ttl99"] = {"type": "local", "module": "kairos.coredevice.ttl", "class": "TTLOut"}\n')
    devices = Client("::1", lab.ports["control"], "device_db")
    devices.scan()
    devices.close_rpc()
    until(lambda: rehearsed(lab, 3)["Broken"]["of"] != first["Broken"]["of"])
    third = rehearsed(lab, 3)
    (lab.folder / "bench.toml").write_text("[python]\n")
    lab.scan()
    until(lambda: rehearsed(lab, 3)["Quick"]["of"] != third["Quick"]["of"])
    assert rehearsed(lab, 3)["Quick"]["changes"] == [], "nothing that they do has changed"
    (lab.folder / "repository" / "others.py").unlink()
    lab.scan()
    assert set(rehearsed(lab, 1)) == {"Quick"}
    assert run_kairos("experiments", "rehearsed", "--lab", str(lab.folder)).returncode == 0


def test_laboratory_without_the_setting_reports_how_to_get_rehearsals(tmp_path):
    lab = Laboratory(tmp_path).start()
    try:
        until(lambda: lab.experiments()["experiments"])
        done = run_kairos("experiments", "rehearsed", "--lab", str(lab.folder))
        assert done.returncode == 1 and "set 'commits = true' under [rehearsal]" in done.stderr
        broken = tmp_path / "broken.py"
        broken.write_text("x = 1 / 0\n")
        for more in ((), ("--rehearse",)):
            done = run_kairos("submit", str(broken), *more, "--lab", str(lab.folder))
            assert done.returncode == 1 and done.stderr.startswith("kairos: the experiment raised"), done.stderr
            assert "lab.sock" not in done.stderr and "ZeroDivision" in done.stderr
        assert lab.rehearsed_experiments() == {"experiments": {}, "done": True}
    finally:
        lab.close()
