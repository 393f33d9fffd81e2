"""Laboratories and runs that are killed: what was acknowledged is not lost, and nothing runs twice."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import h5py
import pytest

from tests.support.waiting import until


def points_of(lab, rid, name):
    with h5py.File(lab.file_of(rid)) as file:
        return file[f"datasets/{name}"][()].tolist()


def test_run_outlives_a_killed_laboratory_and_is_taken_over(lab):
    rid = lab.run_of("Patient", name="long")
    waiting = lab.run_of("Quick")
    until(lambda: lab.counted("long") and lab.status_of(waiting) == "prepare_done")
    lab.kill()
    before = lab.counted("long")
    until(lambda: lab.counted("long") > before + 5)
    os.kill(lab.pids()[rid], signal.SIGSTOP)
    lab.start()
    # The run that waits connects first, and does not take the place of the other one.
    until(lambda: lab.status_of(waiting) == "prepare_done")
    assert lab.queue()[0]["rid"] == rid and lab.status_of(rid) == "running" and lab.begun() == [rid]
    os.kill(lab.pids()[rid], signal.SIGCONT)
    until(lambda: lab.status_of(rid) == "running" and lab.status_of(waiting) == "prepare_done")
    until(lambda: len(lab.datasets()["long"][1]) > before + 5)
    found = lab.datasets()["long"][1]
    assert found == list(range(len(found)))
    lab.release_run("long")
    assert lab.ends(waiting)["status"] == lab.ends(rid)["status"] == "completed"
    assert points_of(lab, rid, "long") == list(range(lab.counted("long"))) and lab.begun() == [rid, waiting]


def test_run_that_ends_without_a_laboratory_is_found_complete(lab):
    rid = lab.run_of("Patient", name="alone")
    until(lambda: lab.counted("alone"))
    lab.kill()
    lab.release_run("alone")
    time.sleep(0.5)
    lab.start()
    assert lab.ends(rid)["status"] == "completed" and lab.begun() == [rid]
    assert points_of(lab, rid, "alone") == list(range(lab.counted("alone")))


def test_killed_run_is_stored_and_the_next_one_goes_on(lab):
    rid = lab.run_of("Patient", name="killed")
    then = lab.run_of("Quick")
    until(lambda: lab.counted("killed") > 30)
    written = lab.counted("killed")
    time.sleep(0.3)
    os.kill(lab.pids()[rid], signal.SIGKILL)
    record = lab.ends(rid)
    assert record["status"] == "failed" and "the process of the run has ended (signal 9)" in record["error"]
    assert len(points_of(lab, rid, "killed")) >= written
    assert lab.ends(then)["status"] == "completed"


KILLED_AT_ITS_END = """
import os
from artiq.experiment import *
from kairos.lab import worker


class Killed(EnvExperiment):
    def run(self):
        self.set_dataset("points", [])
        for number in range(100):
            self.append_to_dataset("points", number)

    def analyze(self):
        self.append_to_dataset("points", 100)
        worker._Run.close = lambda *_: os.kill(os.getpid(), 9)
"""


def test_run_killed_after_its_last_stage_keeps_all_points(lab):
    """It is complete as soon as the end of its last stage was reported: its file comes from the journal then."""
    (lab.folder / "repository" / "killed.py").write_text(KILLED_AT_ITS_END)
    expid = {"file": "killed.py", "class_name": "Killed", "arguments": {}, "repo_rev": None, "log_level": 30}
    rid = lab.submit(expid, "main", 0)
    assert lab.ends(rid)["status"] == "completed"
    assert points_of(lab, rid, "points") == list(range(101))


def test_cut_off_run_is_interrupted_and_the_queue_is_as_it_was(lab):
    """Everything ends at once, as in a power cut; the disk has what was synchronised."""
    rid = lab.run_of("Patient", name="cut")
    until(lambda: lab.counted("cut") > 30)
    prepared = lab.run_of("Quick")
    until(lambda: lab.status_of(prepared) == "prepare_done")
    held = lab.run_of("Quick", n=7)
    last = lab.run_of("Quick", n=8)
    lab.hold(held, "later")
    lab.move(last, held)
    written = lab.counted("cut")
    time.sleep(0.3)
    lab.kill()
    for pid in lab.pids().values():
        os.kill(pid, signal.SIGKILL)
    lab.start()
    record = lab.ends(rid)
    assert record["status"] == "interrupted" and len(points_of(lab, rid, "cut")) >= written
    lab.ends(prepared)
    lab.ends(last)
    (left,) = lab.queue()
    assert (left["rid"], left["held"]) == (held, "later")
    assert lab.begun() == [rid, prepared, last]


def test_ended_laboratory_leaves_running_runs_and_the_next_takes_over(lab):
    rid = lab.run_of("Patient", name="long")
    waiting = lab.run_of("Quick")
    until(lambda: lab.counted("long") and lab.status_of(waiting) == "prepare_done")
    lab.end()
    assert lab.pids().keys() == {rid}
    assert f"run {rid} goes on" in (lab.folder / "output").read_text()
    lab.start()
    lab.release_run("long")
    assert lab.ends(waiting)["status"] == lab.ends(rid)["status"] == "completed" and lab.begun() == [rid, waiting]


def test_request_for_termination_survives_the_laboratory(lab):
    rid = lab.run_of("Patient", name="long")
    until(lambda: lab.counted("long"))
    os.kill(lab.pids()[rid], signal.SIGSTOP)
    lab.terminate(rid)
    pid = lab.pids()[rid]
    lab.kill()
    lab.start()
    os.kill(pid, signal.SIGCONT)
    assert lab.ends(rid)["status"] == "terminated"


SLOW = """
import os
import time
from pathlib import Path
from artiq.experiment import *

Path({pid!r}).write_text(f"{{os.getpid()}} ")


class Slow(EnvExperiment):
    def build(self):
        while not Path({end!r}).exists():
            time.sleep(0.01)
"""


@pytest.mark.parametrize("finished", [False, True])
def test_examination_does_not_outlive_its_laboratory(lab, finished):
    pid, end = lab.folder / "pid", lab.folder / "end"
    (lab.folder / "repository" / "slow.py").write_text(SLOW.format(pid=str(pid), end=str(end)))
    lab.kill()
    lab.start()
    until(lambda: pid.exists() and pid.read_text().endswith(" "))
    process = int(pid.read_text())
    os.kill(process, signal.SIGSTOP)
    if finished:
        end.touch()
    lab.kill()
    # The kernel itself continues it with a SIGHUP, if its process group has no parent any more.
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGCONT)
    until(lambda: not Path(f"/proc/{process}").exists())


KEEPS = """
from artiq.experiment import *
from pathlib import Path
import time

HOME = Path(__file__).parents[1]


class Keeps(EnvExperiment):
    def build(self):
        self.calibrates("by_rule", validity=1000)

    def run(self):
        self.set_dataset("kept", [0], broadcast=True, persist=True)
        self.set_dataset("shared", 1, broadcast=True, persist=True)
        while not (HOME / "go").exists():
            time.sleep(0.02)
        self.set_dataset("kept", [1], broadcast=True, persist=True, unit="V")
        self.append_to_dataset("kept", 2)
        self.set_dataset("by_rule", 5.0, broadcast=True, persist=True)
        self.set_dataset("late", 3, broadcast=True, persist=True)
        (HOME / "written").touch()
        time.sleep(600)
"""


def test_values_set_without_a_laboratory_by_a_run_that_is_killed_are_kept(lab):
    (lab.folder / "repository" / "keeps.py").write_text(KEEPS)
    rid = lab.submit({"file": "keeps.py", "repo_rev": None})
    until(lambda: "shared" in lab.datasets())
    lab.set_dataset("shared", 2, True)
    lab.kill()
    (lab.folder / "go").touch()
    until((lab.folder / "written").exists)
    os.kill(lab.pids()[rid], signal.SIGKILL)
    lab.start()
    assert lab.ends(rid)["status"] == "interrupted"
    found = lab.datasets()
    assert found["kept"] == (True, [1, 2], {"unit": "V"}) and found["late"][1] == 3 and found["by_rule"][1] == 5.0
    assert found["shared"][1] == 2, "somebody has set it since"
    assert [write["value"] for write in lab.parameter_history("kept")] == ["[1, 2]", "[0]"]
    assert [write["validity"] for write in lab.parameter_history("by_rule")] == [1000.0]
    lab.kill()
    lab.start()
    assert lab.datasets() == found and len(lab.parameter_history("kept")) == 2
