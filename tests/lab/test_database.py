"""The database of a laboratory: tables of earlier versions are brought up to date without loss."""

import sqlite3

import pytest
from sqlalchemy import inspect

from kairos.errors import UsageError
from kairos.experiment.store import DatasetStore
from kairos.lab.database import HEAD, Database
from kairos.lab.live import LiveDatasets
from kairos.lab.locks import Locks
from kairos.lab.tables import metadata

FIRST = """
create table alembic_version (version_num varchar(32) not null primary key);
insert into alembic_version values ('0001');
create table parameters (id integer primary key, key varchar not null, time float not null, value text,
    metadata text, rid integer, record integer, person varchar);
insert into parameters (key, time, value, metadata, person) values ('power', 100.0, '2.5', '{}', 'anna');
create table runs (rid integer primary key, class_name varchar);
"""


def test_tables_of_the_first_version_get_new_columns(tmp_path):
    path = tmp_path / "lab.db"
    with sqlite3.connect(path) as old:
        old.executescript(FIRST)
    for _ in range(2):
        database = Database(f"sqlite:///{path}")
        columns = {column["name"] for column in inspect(database.engine).get_columns("parameters")}
        assert {"kind", "validity", "note"} <= columns
        live = LiveDatasets(DatasetStore(tmp_path / "dataset_db.mdb"), database)
        assert live.history("power")[-1]["person"] == "anna" and live.written["power"].changed >= 100.0
        live.set("power", 3.0, True)
        live.close()
        database.close()


def test_new_database_has_all_tables_of_this_version(tmp_path):
    database = Database(f"sqlite:///{tmp_path / 'lab.db'}")
    found = inspect(database.engine)
    assert set(metadata.tables) | {"alembic_version"} == set(found.get_table_names())
    for name, table in metadata.tables.items():
        assert {column["name"] for column in found.get_columns(name)} == set(table.c.keys())
    database.close()


def test_new_database_equals_one_that_went_through_all_changes(tmp_path):
    def schema(*statements: str):
        path = tmp_path / f"{len(statements)}.db"
        with sqlite3.connect(path) as begun:
            for statement in statements:
                begun.execute(statement)
        Database(f"sqlite:///{path}").close()
        with sqlite3.connect(path) as made:
            rows = made.execute("select type, name, sql from sqlite_master where name not like '%alembic_version%'")
            return sorted(rows), made.execute("select version_num from alembic_version").fetchall()

    # A table that is there already, as after a first start that was killed, leaves the database to the changes.
    table = "create table alembic_version (version_num varchar(32) not null primary key)"
    assert schema() == schema(table)
    assert schema()[1] == [(HEAD,)]


def test_database_of_a_later_version_is_refused_in_a_line(tmp_path):
    path = tmp_path / "lab.db"
    Database(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as later:
        later.execute("update alembic_version set version_num = ?", (f"{int(HEAD) + 1:04}",))
    with pytest.raises(UsageError, match="was written by a later version of Kairos: update Kairos"):
        Database(f"sqlite:///{path}")


def test_removed_database_file_refuses_changes_until_it_is_back(tmp_path):
    path, hidden = tmp_path / "lab.db", tmp_path / "hidden.db"
    database = Database(f"sqlite:///{path}")
    Locks(database).take("pipeline", "main", 60.0, "anna", "")
    path.rename(hidden)
    with pytest.raises(UsageError, match="its file was removed or replaced; put it back"):
        Locks(database).take("pipeline", "night", 60.0, "anna", "")
    path.write_bytes(b"")
    with pytest.raises(UsageError, match="its file was removed or replaced"):
        Locks(database).take("pipeline", "night", 60.0, "anna", "")
    hidden.rename(path)
    Locks(database).take("pipeline", "night", 60.0, "anna", "")
    assert [lock.name for lock in Locks(database).active()] == ["main", "night"]
    database.close()
