"""Laboratories and runs that are killed: what was acknowledged is not lost, and nothing runs twice."""

import os
import random
import signal
import time
from pathlib import Path

import h5py
import pytest

from tests.support.laboratory import Laboratory
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
    lab.start()
    assert {run["rid"]: run["status"] for run in lab.queue()}.keys() == {rid, waiting}
    until(lambda: lab.status_of(rid) == "running" and lab.status_of(waiting) == "prepare_done")
    until(lambda: len(lab.datasets()["long"][1]) > before + 5)
    assert lab.datasets()["long"][1] == list(range(len(lab.datasets()["long"][1])))
    lab.release_run("long")
    assert lab.ends(waiting)["status"] == lab.run(rid)["status"] == "completed"
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
    assert lab.ends(waiting)["status"] == lab.run(rid)["status"] == "completed" and lab.begun() == [rid, waiting]


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
    os.kill(process, signal.SIGCONT)
    until(lambda: not Path(f"/proc/{process}").exists())


def disturb(lab, chance, acknowledged):
    """Does something that may happen in a laboratory."""
    act = chance.choice(["submit"] * 6 + ["kill lab", "kill run", "kill both", "move", "hold", "terminate", "end"])
    if act == "submit":
        name = chance.choice(["Quick", "Quick", "Broken", "Watched"])
        acknowledged[lab.run_of(name, pipeline=chance.choice("ab"))] = name
    elif act in ("kill lab", "end"):
        lab.kill() if act == "kill lab" else lab.end()
        time.sleep(chance.random() / 10)
        lab.start()
    elif act == "kill both":
        lab.kill()
        for pid in lab.pids().values():
            os.kill(pid, signal.SIGKILL)
        lab.start()
    elif act == "kill run":
        for pid in list(lab.pids().values())[:1]:
            os.kill(pid, signal.SIGKILL)
    else:
        waiting = [run["rid"] for run in lab.queue() if run["status"] == "pending"]
        if len(waiting) > 1:
            one, other = chance.sample(waiting, 2)
            try:
                if act == "move":
                    lab.move(one, other)
                elif act == "hold":
                    lab.hold(one)
                    lab.release(one)
                else:
                    lab.terminate(one)
            except Exception as error:  # it has begun meanwhile
                assert "already" in str(error) or "no run" in str(error), error


def endure(folder, seed, count):
    """Disturbs a laboratory `count` times; then everything acknowledged has ended, once."""
    chance, acknowledged = random.Random(seed), {}
    lab = Laboratory(folder).start()
    try:
        for _ in range(count):
            disturb(lab, chance, acknowledged)
            time.sleep(chance.random() / 10)
        until(lambda: not lab.queue(), lambda: str(lab.queue()))
        ended = {run["rid"]: run["status"] for run in lab.runs()}
        assert ended.keys() == acknowledged.keys()
        assert set(ended.values()) <= {"completed", "failed", "deleted", "interrupted"}
        assert len(lab.begun()) == len(set(lab.begun())), "none has run twice"
        assert not lab.pids() and not list((folder / ".kairos" / "runs").iterdir())
        completed = [rid for rid, status in ended.items() if status == "completed"]
        assert all(acknowledged[rid] == "Quick" and rid in lab.begun() for rid in completed)
        assert all(points_of(lab, rid, "points") == [0, 1, 2] for rid in completed)
        assert lab.reindex() == (len(list(folder.glob("results/*/*/*.json"))), [])
    finally:
        lab.close()


def test_laboratory_endures_random_disturbances(tmp_path):
    endure(tmp_path, 1, 15)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_laboratory_endures_many_random_disturbances(tmp_path, seed):
    endure(tmp_path, seed, 100)
