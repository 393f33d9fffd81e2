"""Rehearsals in a laboratory: policies of pipelines, what submitters are told, parameters."""

import json

import pytest

from tests.support.command import run_kairos
from tests.support.laboratory import Laboratory
from tests.support.paths import EXAMPLES
from tests.support.rehearsed import KERNELS, LATE
from tests.support.waiting import until

SETTINGS = """
[rehearsal]
default = "warn"
pipelines = { students = "must", night = "off" }
within_s = 20
"""


@pytest.fixture
def lab(tmp_path):
    laboratory = Laboratory(tmp_path, SETTINGS, (EXAMPLES / "device_db.py").read_text())
    (tmp_path / "repository" / "kernels.py").write_text(KERNELS)
    laboratory.start()
    yield laboratory
    laboratory.close()


def submitted(lab, name, pipeline="main", **arguments):
    return lab.submit({**lab.expid(name, **arguments), "file": "kernels.py"}, pipeline)


def test_submitter_is_warned_and_the_run_goes_on(lab):
    fine, late = submitted(lab, "Fine"), submitted(lab, "Late")
    found = lab.rehearsed(fine)
    assert found is None or (found["passed"] and "no underflow" in found["sentence"])  # None: it has ended already
    assert lab.ends(late)["status"] == "failed"
    assert lab.ends(fine)["status"] == "completed"


def test_run_that_must_pass_is_held_with_the_reason(lab):
    late = submitted(lab, "Late", "students")
    found = lab.rehearsed(late)
    assert found["policy"] == "must" and not found["passed"]
    assert found["failure"]["kind"] == "RTIOUnderflow" and f"kernels.py:{LATE}: RTIOUnderflow" in found["sentence"]
    (run,) = lab.queue()
    assert run["status"] == "pending" and f"its rehearsal fails at kernels.py:{LATE}" in run["why"]
    lab.release(late)
    until(lambda: "not ended yet" not in (lab.queue()[0]["why"] or "") and lab.queue()[0]["held"])
    assert lab.status_of(late) == "pending"
    # Mended, it is rehearsed again, and begins by itself.
    lab.edit(late, arguments={"early": 5e-3})
    lab.release(late)
    assert lab.ends(late)["status"] == "completed"


def test_run_that_violates_an_interlock_is_held(lab):
    rule = '[[rule]]\nname = "shutter"\npin = "ttl4"\nat_most_s = 0.5e-6\n'
    (lab.folder / "interlocks.toml").write_text(rule)
    rid = submitted(lab, "Fine", "students")
    found = lab.rehearsed(rid)
    assert not found["passed"] and found["sentence"].startswith("violates the interlock 'shutter' at kernels.py:")
    assert lab.status_of(rid) == "pending" and "'shutter'" in lab.queue()[0]["why"]


def test_rehearsal_reads_the_parameters_of_the_laboratory(lab):
    lab.set_dataset("lead", 5e-3, True)
    assert lab.rehearsed(submitted(lab, "Late", "students"))["passed"]


def test_pipeline_without_rehearsals_runs_at_once(lab):
    rid = submitted(lab, "Fine", "night")
    assert lab.policy(rid) == "off"
    assert lab.ends(rid)["status"] == "completed"


def test_waiting_run_is_rehearsed_by_the_next_laboratory(lab):
    lab.submit({**lab.expid("Fine"), "file": "kernels.py"}, "students", held="later")
    lab.kill()
    lab.start()
    (run,) = lab.queue()
    lab.release(run["rid"])
    assert lab.ends(run["rid"])["status"] == "completed"


def test_command_prints_the_verdict(lab):
    folder = ["--lab", str(lab.folder)]
    until(lambda: "kernels.py" in {entry["file"] for entry in lab.experiments()["experiments"].values()})
    done = run_kairos("submit", "kernels.py", "-c", "Late", "-p", "students", *folder)
    assert (
        done.returncode == 1
        and f"fails at kernels.py:{LATE}: RTIOUnderflow" in done.stderr
        and "is held" in done.stderr
    )
    done = run_kairos("submit", "kernels.py", "-c", "Fine", "-p", "students", "--wait", *folder)
    assert done.returncode == 0 and "rehearsed in " in done.stdout and "completed" in done.stdout, done.stdout


@pytest.mark.parametrize(
    "text",
    [
        'pipelines = { a = "x" }',
        "within_s = 0",
        *(pytest.param(n, marks=pytest.mark.long) for n in ('default = "maybe"', "nothing = 1", "within_s = 'a'")),
    ],
)
def test_wrong_settings_are_refused_in_one_line(tmp_path, text):
    (tmp_path / "lab.toml").write_text(f"[rehearsal]\n{text}\n")
    (tmp_path / "device_db.py").write_text("device_db = {}\n")
    done = run_kairos("lab", "--lab", str(tmp_path))
    assert done.returncode == 1 and "lab.toml" in done.stderr and len(done.stderr.strip().splitlines()) == 1, (
        done.stderr
    )


def test_command_rehearses_without_submitting_in_a_pipeline_without_rehearsals(lab):
    folder = ["--lab", str(lab.folder)]
    until(lambda: "kernels.py" in {entry["file"] for entry in lab.experiments()["experiments"].values()})
    done = run_kairos("submit", "kernels.py", "-c", "Late", "-p", "night", "--rehearse", *folder)
    assert (done.returncode, done.stdout) == (1, "") and f"fails at kernels.py:{LATE}: RTIOUnderflow" in done.stderr
    lab.set_dataset("lead", 5e-3, True)
    done = run_kairos("submit", "kernels.py", "-c", "Late", "--rehearse", "--json", *folder)
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["passed"] and "no underflow" in found["sentence"]
    assert LATE in {line["line"] for line in found["lines"]}
    assert lab.queue() == [] and lab.runs() == []
