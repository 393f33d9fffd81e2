"""A laboratory with PostgreSQL: the same tables, searches and promises as with SQLite, and a server that was away."""

import pytest
from sqlalchemy import inspect

from kairos.errors import UsageError
from kairos.lab.database import Database
from kairos.lab.tables import metadata
from tests.support.laboratory import Laboratory
from tests.support.postgres import Postgres
from tests.support.waiting import until


@pytest.fixture(scope="module")
def server():
    """A server for all tests of this file."""
    postgres = Postgres()
    yield postgres
    postgres.close()


@pytest.fixture
def lab(tmp_path, server):
    laboratory = Laboratory(tmp_path, f"database = '{server.url}'\n")
    laboratory.start()
    yield laboratory
    laboratory.close()
    database = Database(server.url)
    with database.change() as change:
        for table in metadata.tables.values():
            change.execute(table.delete())
    database.close()


def test_runs_are_queued_found_and_repeated_in_postgresql(lab, server):
    first = lab.ends(lab.run_of("Quick", n=4))
    assert first["status"] == "completed" and first["numbers"]["total"] == [6.0, None]
    lab.ends(lab.run_of("Broken"))
    lab.tag(0, "good")
    lab.note(0, "a note")
    for words, found in [
        (["n>3", "n<=4", "quick"], [0]),
        (["total=6"], [0]),
        (["status=failed"], [1]),
        (["tag=good"], [0]),
        (["of the user"], [1]),
        (["rid>=1"], [1]),
    ]:
        assert [run["rid"] for run in lab.runs(words)] == found, words
    assert lab.run(0)["notes"][0]["text"] == "a note" and lab.reindex() == (2, [])
    held = lab.submit(lab.expid("Quick"), held="not yet")
    other = lab.submit(lab.expid("Quick"), held="nor this")
    lab.move(other, held)
    lab.lock("pipeline", "night", 3600, "mine")
    lab.set_dataset("power", 1.5, True)
    lab.kill()
    lab.start()
    assert [run["rid"] for run in lab.queue()] == [other, held] and lab.locks()[0]["note"] == "mine"
    (write,) = lab.parameter_history("power")
    assert write["value"] == "1.5"
    lab.set_dataset("power", 2.5, True)
    lab.restore_parameter("power", write["id"])
    assert lab.datasets()["power"][1] == 1.5 and len(lab.parameter_history("power")) == 3
    lab.release(held)
    assert lab.ends(held)["status"] == "completed"
    database = Database(server.url)
    assert set(metadata.tables) <= set(inspect(database.engine).get_table_names())
    with database.view() as view:
        found = view.exec_driver_sql("select name, number from run_results where rid = 0").all()
    database.close()
    assert ("total", 6.0) in [tuple(row) for row in found]


def test_run_goes_on_while_the_server_is_away_and_is_entered_afterwards(lab, server):
    rid = lab.run_of("Patient", name="long")
    until(lambda: lab.counted("long"))
    server.stop()
    try:
        with pytest.raises(UsageError, match="the database .* cannot be written"):
            lab.submit(lab.expid("Quick"))
        before = lab.counted("long")
        until(lambda: lab.counted("long") > before + 5)
        lab.release_run("long")
        until(lambda: any("cannot be stored" in record[3] for record in lab.log()))
    finally:
        server.start()
    assert lab.ends(rid)["status"] == "completed"
    assert lab.ends(lab.run_of("Quick"))["status"] == "completed" and len(lab.begun()) == 2


CALIBRATIONS = """
import time
from pathlib import Path
from artiq.experiment import *

HOME = Path(__file__).parents[1]


class First(EnvExperiment):
    def build(self):
        self.calibrates("by_rule", maximum=10)
        self.calibrates("by_hand", by_hand=True)

    def run(self):
        (HOME / "running").touch()
        while not (HOME / "go").exists():
            time.sleep(0.02)
        self.set_dataset("by_rule", 5.0, broadcast=True, persist=True)
        self.set_dataset("by_hand", 7.0, broadcast=True, persist=True)


class Second(EnvExperiment):
    def build(self):
        self.calibrates("last")
        self.set_calibration(needs=["by_hand"])

    def run(self):
        self.parameters.last = self.parameters.by_hand + 1
"""


def test_calibrations_wait_for_the_server_and_lose_no_value(lab, server):
    (lab.folder / "repository" / "calibrations.py").write_text(CALIBRATIONS)
    lab.scan()
    number = lab.calibrate()
    until((lab.folder / "running").exists)
    server.stop()
    try:
        (lab.folder / "go").touch()
        until(lambda: any("cannot be stored" in record[3] for record in lab.log()))
    finally:
        server.start()
    until(lab.proposals, lambda: str(lab.session(number)))
    (waiting,) = lab.proposals()
    until(lambda: lab.session(number)["steps"][0]["state"] == "deciding")
    server.stop()
    until(lambda: any("the ages of" in record[3] or "cannot be" in record[3] for record in lab.log()))
    server.start()
    lab.decide(waiting["id"], True, "good")
    until(lambda: lab.session(number)["ended"] is not None)
    assert [step["state"] for step in lab.session(number)["steps"]] == ["done", "done"]
    assert {name: entry[1] for name, entry in lab.datasets().items()} == {"by_rule": 5.0, "by_hand": 7.0, "last": 8.0}
    assert [write["value"] for write in lab.parameter_history("by_rule")] == ["5.0"]
    assert "Traceback" not in (lab.folder / "output").read_text()


def test_laboratories_in_one_database_keep_their_runs_apart(tmp_path, server):
    labs = {}
    try:
        for name in ("trap_a", "trap_b"):
            (tmp_path / name).mkdir()
            settings = f"name = '{name}'\ndatabase = '{server.url}'\ndatabase_schema = '{name}'\n"
            labs[name] = Laboratory(tmp_path / name, settings).start()
        for lab, count in zip(labs.values(), (2, 1), strict=True):
            for _ in range(count):
                lab.ends(lab.run_of("Quick"))
            lab.set_dataset("power", count, True)
            lab.submit(lab.expid("Quick"), held="later")
        for lab, count in zip(labs.values(), (2, 1), strict=True):
            assert [run["rid"] for run in lab.runs()] == list(reversed(range(count)))
            assert [run["rid"] for run in lab.queue()] == [count]
            assert [write["value"] for write in lab.parameter_history("power")] == [str(count)]
    finally:
        for lab in labs.values():
            lab.close()
    database = Database(server.url, "trap_b")
    with database.view() as view:
        assert view.exec_driver_sql("select name from owner").scalar() == "trap_b"
        assert view.exec_driver_sql("select count(*) from trap_a.run_results").scalar()
    database.close()


def test_database_of_another_laboratory_is_refused_in_a_line(server):
    first, second = Database(server.url, "shared"), Database(server.url, "shared")
    first.claim("identity of a", "trap a", "here:/a")
    with pytest.raises(
        UsageError, match=r"belongs to the laboratory trap a \(here:/a\): give this one a part of its own"
    ):
        second.claim("identity of b", "trap b", "here:/b")
    first.claim("identity of a", "trap a", "elsewhere:/moved")
    first.claim("a new identity", "trap a", "elsewhere:/moved")
    with pytest.raises(UsageError, match="belongs to the laboratory trap a"):
        second.claim("identity of a", "trap a", "here:/a")
    first.close()
    second.close()


@pytest.mark.parametrize("name", ["Trap", "a-b", "1a", "a" * 64, 'a"; drop'])
def test_unusable_name_of_a_schema_is_refused(server, name):
    with pytest.raises(UsageError, match="database_schema must be a name in lower case"):
        Database(server.url, name)
    with pytest.raises(UsageError, match="database_schema is for PostgreSQL"):
        Database("sqlite://", "trap")


def test_server_that_does_not_answer_is_named_in_a_line(tmp_path):
    with pytest.raises(UsageError, match="the database postgresql.* cannot be opened: "):
        Database(f"postgresql+psycopg://kairos:secret@/postgres?host={tmp_path}")
    with pytest.raises(UsageError, match="cannot be opened") as refused:
        Database("nonsense")
    with pytest.raises(UsageError) as refused:
        Database(f"postgresql+psycopg://kairos:secret@/postgres?host={tmp_path}")
    assert "secret" not in str(refused.value)
