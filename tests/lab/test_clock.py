"""A laboratory whose clock is set, forwards and backwards, while it runs and while it does not: due times stand."""

import re
import time
from pathlib import Path

import pytest

from tests.support.laboratory import Laboratory
from tests.support.waiting import until

HOUR = 3600.0
SOURCE = Path(__file__).parents[2] / "src" / "kairos" / "lab"
PROGRAM = """
import sys, time
from pathlib import Path
from kairos.lab import clock

step = Path(sys.argv[1], "step")
clock.now = lambda: time.time() + float(step.read_text())

from kairos.lab.__main__ import main
sys.exit(main(sys.argv[1]))
"""
"""The laboratory, with a clock that a file sets."""


class Adjustable(Laboratory):
    """A laboratory with a clock of its own."""

    def start(self):
        return super().start(("-c", PROGRAM))

    def step(self, seconds: float):
        """Set its clock to differ from the true one by this."""
        new = self.folder / "step.new"
        new.write_text(str(seconds))
        new.rename(self.folder / "step")

    def due_in(self, seconds: float) -> int:
        """Submit a run that is due when the true clock has advanced by this."""
        return self.submit(self.expid("Quick"), due_date=time.time() + seconds)


@pytest.fixture
def lab(tmp_path):
    laboratory = Adjustable(tmp_path)
    laboratory.step(0)
    laboratory.start()
    yield laboratory
    laboratory.close()


def test_run_becomes_due_when_the_clock_is_set_forwards(lab):
    rid, later = lab.due_in(HOUR), lab.due_in(3 * HOUR)
    assert lab.queue()[0]["why"].startswith("it is due at")
    lab.step(HOUR + 1)
    assert lab.ends(rid)["status"] == "completed"
    assert [run["rid"] for run in lab.queue()] == [later], "this one is not due yet"


def test_run_waits_again_when_the_clock_is_set_back(lab):
    lab.step(-2 * HOUR)
    rid, soon = lab.due_in(-HOUR), lab.due_in(-2 * HOUR)
    assert lab.ends(soon)["status"] == "completed"
    assert [run["rid"] for run in lab.queue()] == [rid]
    record = lab.run(soon)
    assert record["submitted"] < time.time() - HOUR and record["status"] == "completed"
    lab.step(0)
    assert lab.ends(rid)["status"] == "completed"


@pytest.mark.parametrize("step", [-5 * HOUR, 5 * HOUR])
def test_due_times_survive_a_clock_that_is_set_while_no_laboratory_runs(lab, step):
    rid, later = lab.due_in(HOUR), lab.due_in(9 * HOUR)
    lab.kill()
    lab.step(step)
    lab.start()
    due = {run["rid"]: run["due_date"] for run in lab.queue()}
    assert due[later] > time.time() + 8 * HOUR, "it is the time that was asked for"
    if step < 0:
        assert set(due) == {rid, later}
        lab.step(2 * HOUR)
    assert lab.ends(rid)["status"] == "completed"
    assert [run["rid"] for run in lab.queue()] == [later]


def test_running_run_goes_on_when_the_clock_is_set(lab):
    rid = lab.run_of("Patient", name="long")
    until(lambda: lab.counted("long"))
    lab.lock("pipeline", "night", HOUR)
    for step in (-10 * HOUR, 10 * HOUR, 0):
        lab.step(step)
        before = lab.counted("long")
        until(lambda before=before: lab.counted("long") > before + 5)
        until(lambda before=before: len(lab.datasets()["long"][1]) > before)
        assert len(lab.locks()) == (step <= 0), "a lock ends at its time, and not before"
    lab.release_run("long")
    assert lab.ends(rid)["status"] == "completed"


def test_clock_of_the_wall_is_read_in_one_place():
    found = [path.name for path in SOURCE.rglob("*.py") if re.search(r"\btime\.time\(", path.read_text())]
    assert sorted(found) == ["__main__.py", "clock.py"], "others call clock.now(), or time.monotonic()"
