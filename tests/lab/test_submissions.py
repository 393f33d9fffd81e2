"""Submissions and texts that a queue could not order, or a database not keep."""

import math

import pytest
from sqlalchemy import insert, select

from kairos.errors import UsageError
from kairos.lab import history
from kairos.lab.database import Database, rows
from kairos.lab.queue import Queue
from kairos.lab.run import check_submission
from kairos.lab.tables import notes
from kairos.runs import RIDCounter

EXPID = {"file": "scan.py", "class_name": "Scan", "arguments": {}, "repo_rev": None, "log_level": 30}


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"due_date": math.nan}, "a due date is a time in seconds of Unix time, not nan"),
        ({"due_date": math.inf}, "not inf"),
        ({"due_date": 1e300}, r"not 1e\+300"),  # a time that no calendar has
        ({"due_date": "tomorrow"}, "not 'tomorrow'"),
        ({"priority": 1 << 31}, "a priority is an integer of less than 32 bits"),
        ({"priority": 0.5}, "a priority is an integer"),
        ({"pipeline": "a\nb"}, "a pipeline is a name"),
        ({"repeat": -2}, "a run cannot be repeated -2 times"),
        ({"after": 1 << 40}, "there is no run 1099511627776"),
        ({"expid": {**EXPID, "class_name": "\0"}}, r"class_name of a submission is the name of a class, not '\\x00'"),
        ({"expid": {**EXPID, "class_name": "a/../../b"}}, "is the name of a class, not 'a/../../b'"),
        ({"expid": {**EXPID, "file": "a\0.py"}}, "there is no file"),
        ({"held": 5}, "why a run is held is a text, not 5"),
        ({"expid": {**EXPID, "class_name": 5}}, "class_name of a submission is a text"),
        ({"expid": {**EXPID, "log_level": "x"}}, "log_level of a submission is an integer"),
        ({"expid": {**EXPID, "devarg_override": {"core": 5}}}, "has a dictionary of arguments for each device"),
        ({"expid": {**EXPID, "devarg_override": "core:host"}}, "'core:host' is not DEVICE:ARGUMENT=VALUE"),
        ({"expid": {**EXPID, "devarg_override": "core:host=x y"}}, "devarg_override of a submission: not a PYON value"),
    ],
)
def test_submission_that_could_not_be_ordered_or_kept_is_refused(wrong, reason):
    with pytest.raises(ValueError, match=reason):
        check_submission(**{"expid": EXPID, **wrong})
    assert check_submission(EXPID, priority=True, flush=1, due_date=5) == {
        "priority": 1,
        "flush": True,
        "due_date": 5.0,
    }


def test_submission_on_a_full_disk_is_refused_in_a_line(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/lab.db")
    queue = Queue(database, RIDCounter(tmp_path / "last_rid.pyon", tmp_path / "results"))
    for folder in (tmp_path, tmp_path / "results"):
        full = folder / "last_rid.pyon.new"
        full.symlink_to("/dev/full")
        with pytest.raises(UsageError, match=f"cannot be kept in {folder}/last_rid.pyon: No space left"):
            queue.submit(expid=EXPID, pipeline="main")
        assert queue.load() == []
        full.unlink()
    assert queue.submit(expid=EXPID, pipeline="main").rid == 2
    database.close()


def test_database_keeps_any_text_and_refuses_numbers_beyond_its_own_in_a_line(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/lab.db")
    record = {"rid": 1, "class_name": "Scan\0", "arguments": {"n": "1" + 400 * "0"}, "status": "failed"}
    with database.change() as change:
        change.execute(insert(notes).values(rid=1, time=0.0, text="a\0b \udcff µ"))
        history.enter(change, [{**record, "file": None, "error": "bytes \udc80", "expid": "{}"}])
    with database.view() as view:
        assert rows(view, select(notes.c.text)) == [{"text": "a\ufffdb ? µ"}]
    assert history.shown(database, 1)["error"] == "bytes ?"
    assert [run["rid"] for run in history.records(database, ["class_name=Scan\0"])] == [1]
    with pytest.raises(UsageError, match="a number is too large for the database"):
        history.shown(database, 1 << 70)
    database.close()
