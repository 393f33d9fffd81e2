"""A laboratory: its queue, its runs, and what is known of them afterwards."""

import subprocess
import sys
import time

import h5py
import pytest

from kairos.errors import UsageError
from kairos.labclient import connect
from tests.support import TIMEOUT
from tests.support.waiting import until


def test_run_is_stored_with_its_output_and_found_again(lab):
    rid = lab.run_of("Quick", n=4)
    record = lab.ends(rid)
    assert (rid, record["status"], record["class_name"], record["error"]) == (0, "completed", "Quick", None)
    assert record["arguments"] == {"n": "4"} and record["person"]
    with h5py.File(lab.file_of(rid)) as file:
        assert file["datasets/points"][()].tolist() == [0, 1, 2, 3] and file["datasets/points"].attrs["unit"] == "ms"
        assert file["datasets/total"][()] == 6 and b"class Quick" in file["provenance/experiment"][()]
    assert lab.file_of(rid).with_suffix(".log").read_text() == "printed\nWARNING<2>:scan:two\nlines\n"
    logged = [(level, source, text) for level, source, _, text in lab.log()]
    assert logged == [
        (20, "worker(0,lab.py)", "print:printed"),
        (30, "worker(0,lab.py)", "scan:two\nlines"),
    ]
    assert lab.datasets()["points"] == (False, [0, 1, 2, 3], {"unit": "ms", "scale": 1e-3})
    (write,) = lab.parameter_history("total")
    assert (write["value"], write["rid"]) == ("6", 0)
    lab.tag(rid, "good")
    lab.note(rid, "the first one")
    assert [run["rid"] for run in lab.runs(["n>3", "n<=4", "quick", "tag=good"])] == [0]
    assert lab.runs(["n>4"]) == [] == lab.runs(["n>=abc"]) and lab.run(rid)["notes"][0]["text"] == "the first one"
    again = lab.repeat(rid, n=2)
    assert lab.ends(again)["arguments"] == {"n": "2"}
    assert not list((lab.folder / ".kairos" / "runs").iterdir()), "what is stored is not kept twice"


def test_failed_run_is_stored_with_its_error(lab):
    record = lab.ends(lab.run_of("Broken"))
    assert record["status"] == "failed" and "ValueError: of the user" in record["error"]
    with h5py.File(lab.file_of(record["rid"])) as file:
        assert file["datasets/measured"][()] == 5
    for expid, reason in [
        (lab.expid("Missing"), "has no experiment 'Missing'"),
        (lab.expid("Quick", unknown=1), "not queried in experiment: unknown"),
        ({"file": "none.py", "repo_rev": None}, "there is no file"),
    ]:
        record = lab.ends(lab.submit(expid))
        assert record["status"] == "failed" and reason in record["error"] and record["results"] is None
    record = lab.ends(lab.run_of("Watched"))
    assert record["status"] == "failed" and "a watchdog has expired during run" in record["error"]


def test_higher_priority_goes_first_and_lower_goes_on(lab):
    low = lab.run_of("Patient", name="low")
    until(lambda: lab.counted("low"))
    high = lab.run_of("Patient", name="high", priority=1)
    until(lambda: lab.counted("high"))
    waiting = lab.run_of("Quick")
    assert lab.status_of(low) == "paused"
    until(lambda: lab.status_of(waiting) in ("prepare_done",))
    why = {run["rid"]: run["why"] for run in lab.queue()}
    assert why == {high: None, low: f"run {high} goes first", waiting: f"run {high} is running"}
    lab.release_run("high")
    lab.ends(high)
    until(lambda: lab.status_of(low) == "running")
    lab.release_run("low")
    assert lab.ends(waiting)["status"] == lab.run(low)["status"] == "completed"
    assert lab.begun() == [low, high, waiting]


def test_waiting_runs_are_held_moved_edited_and_deleted(lab):
    first = lab.run_of("Patient", name="first")
    until(lambda: lab.counted("first"))
    prepared = lab.run_of("Quick")
    until(lambda: lab.status_of(prepared) == "prepare_done")
    a, b, c, d = (lab.run_of("Quick", n=n) for n in (1, 2, 3, 4))
    lab.hold(a, "the laser is off")
    lab.move(d, b)
    lab.edit(c, arguments={"n": 9}, priority=-1)
    assert [run["rid"] for run in lab.queue()][-4:] == [a, d, b, c]
    assert lab.queue()[2]["why"] == "it is held: the laser is off"
    lab.terminate(b)
    assert lab.ends(b)["status"] == "deleted"
    with pytest.raises(UsageError, match=f"run {first} is running already"):
        lab.edit(first, priority=1)
    with pytest.raises(UsageError, match="there is no run 99 in the queue"):
        lab.move(99, a)
    lab.release_run("first")
    lab.ends(c)
    assert lab.begun() == [first, prepared, d, c] and lab.run(c)["arguments"] == {"n": "9"}
    lab.release(a)
    assert lab.ends(a)["status"] == "completed"


def test_running_run_pauses_until_it_is_released_and_others_run_meanwhile(lab):
    first = lab.run_of("Patient", name="first")
    until(lambda: lab.counted("first"))
    prepared = lab.run_of("Quick")
    until(lambda: lab.status_of(prepared) == "prepare_done")
    lab.hold(prepared)
    lab.hold(first, "the laser is off")
    until(lambda: lab.status_of(first) == "paused")
    assert [run["why"] for run in lab.queue()] == ["it is held: the laser is off", "it is held"]
    assert lab.ends(lab.run_of("Quick"))["status"] == "completed"
    lab.kill()
    lab.start()
    until(lambda: lab.status_of(prepared) is not None)
    assert lab.status_of(first) == "paused"
    lab.release(first)
    until(lambda: lab.status_of(first) == "running")
    lab.hold(first)
    until(lambda: lab.status_of(first) == "paused")
    lab.terminate(first)
    assert lab.ends(first)["status"] == "terminated", "a held run that is to terminate does not wait"
    lab.release(prepared)
    assert lab.ends(prepared)["status"] == "completed"
    with pytest.raises(UsageError, match=f"there is no run {prepared} in the queue"):
        lab.hold(prepared)


def test_run_after_another_waits_for_its_success(lab):
    lab.release_run("one")
    broken = lab.run_of("Broken")
    behind = lab.submit(lab.expid("Quick"), after=broken)
    lab.ends(broken)
    assert lab.queue()[0]["why"] == f"run {broken} has not succeeded yet"
    good = lab.run_of("Patient", name="one")
    then = lab.submit(lab.expid("Quick"), after=good)
    assert lab.ends(then)["status"] == "completed" and lab.begun() == [good, then]
    lab.release(behind)
    assert lab.ends(behind)["status"] == "completed"


def test_repeated_run_is_submitted_again(lab):
    rid = lab.submit(lab.expid("Quick"), repeat=2)
    until(lambda: len(lab.runs()) == 3 and not lab.queue())
    assert [run["rid"] for run in lab.runs(["status=completed"])] == [rid + 2, rid + 1, rid]
    with pytest.raises(Exception, match="cannot be repeated -7 times: give 0 or more, or -1"):
        lab.submit(lab.expid("Quick"), repeat=-7)


def test_repetition_of_a_failed_run_is_held(lab):
    rid = lab.submit(lab.expid("Broken"), repeat=-1)
    assert lab.ends(rid)["status"] == "failed"
    (again,) = lab.queue()
    assert again["why"] == f"it is held: run {rid}, which it repeats, has failed"
    lab.terminate(again["rid"])
    until(lambda: not lab.queue())


def test_terminated_run_is_not_repeated(lab):
    rid = lab.submit(lab.expid("Patient"), repeat=-1)
    until(lambda: rid in lab.begun())
    lab.terminate(rid)
    assert lab.ends(rid)["status"] == "terminated"
    assert lab.queue() == []


def test_due_run_waits_and_flush_empties_the_pipeline(lab):
    due = time.time() + 1.5
    later = lab.submit(lab.expid("Quick"), due_date=due, priority=5)
    assert "it is due at" in lab.queue()[0]["why"]
    first = lab.run_of("Patient", name="first")
    until(lambda: lab.counted("first"))
    until(lambda: lab.status_of(later) == "running" or later in lab.begun())
    assert time.time() >= due
    lab.ends(later)
    flushed = lab.submit(lab.expid("Quick"), flush=True)
    until(lambda: lab.status_of(flushed) == "flushing")
    assert lab.queue()[-1]["why"] == f"it flushes the pipeline: run {first} must end first"
    lab.release_run("first")
    assert lab.ends(flushed)["status"] == "completed"


def test_termination_is_graceful_or_by_force(lab):
    asked = lab.run_of("Patient", name="asked")
    stubborn = lab.run_of("Stubborn", pipeline="other")
    until(lambda: lab.counted("asked") and stubborn in lab.begun())
    lab.terminate(asked)
    record = lab.ends(asked)
    assert record["status"] == "terminated"
    with h5py.File(lab.file_of(asked)) as file:
        assert len(file["datasets/asked"]) == lab.counted("asked")
    lab.terminate(stubborn, force=True)
    assert lab.ends(stubborn)["status"] == "deleted"
    with h5py.File(lab.file_of(stubborn)) as file:
        assert file["datasets/measured"][()] == 5
    assert not lab.pids()


def test_run_asks_for_arguments_and_submits_another(lab):
    lab.run_of("Submits")
    until(lambda: "submitted" in lab.datasets())
    rid, pause = lab.datasets()["submitted"][1]
    assert pause is False and lab.ends(rid)["status"] == "completed"
    asks = lab.run_of("Asks")
    until(lambda: lab.status_of(asks) == "running")
    lab.terminate(asks, force=True)
    assert lab.ends(asks)["status"] == "deleted"


def test_second_laboratory_in_a_folder_is_refused_in_a_line(lab):
    command = [sys.executable, "-m", "kairos.lab", str(lab.folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 1
    assert done.stderr == f"kairos: a laboratory is running in {lab.folder} already (process {lab.process.pid})\n"
    assert lab.status()["queue"] == 0


def test_laboratory_that_does_not_run_is_reported(tmp_path):
    with pytest.raises(UsageError, match="no laboratory is running in .*: start it with 'kairos lab'"):
        connect(tmp_path)


@pytest.mark.parametrize(
    "settings, message",
    [
        ("x = 1\n", "there is no setting 'x'; there are name,"),
        ("git = 1\n", "'git' must be bool, not 1"),
        ("[ports]\nnotify = 'a'\n", "'ports.notify' must be int"),
        ("git\n", "lab.toml"),
        ("results = 'lab.toml'\n", "lab.toml cannot be created: File exists"),
    ],
)
def test_wrong_setting_is_reported_in_a_line(tmp_path, settings, message):
    (tmp_path / "lab.toml").write_text(settings)
    command = [sys.executable, "-m", "kairos.lab", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and message in done.stderr
