"""Tables of the laboratory's database.

`submissions` is the queue: what was submitted and has not ended. `runs` and what refers to it are
the index of what has ended, which can be rebuilt from the files of the runs. `parameters` has every
write of a persistent dataset, `proposals` the values that calibrations have found, `calibrations`
what was calibrated in which order. `logbook` has every text of its entries, `layouts` every version of the
page's layouts. Columns have only types that SQLite and PostgreSQL share; values are
PYON text, times seconds of Unix time.
"""

from collections.abc import Iterable

from sqlalchemy import DDL, Boolean, Column, Float, Index, Integer, LargeBinary, MetaData, Table, event
from sqlalchemy import String as _String
from sqlalchemy import Text as _Text
from sqlalchemy.types import TypeDecorator

from ..errors import UsageError

__all__ = [
    "alarms",
    "arguments",
    "calibrations",
    "layouts",
    "locks",
    "logbook",
    "metadata",
    "notes",
    "owner",
    "parameters",
    "proposals",
    "reads",
    "results",
    "runs",
    "searched",
    "submissions",
    "tags",
    "views",
]

metadata = MetaData()

LONGEST_SEARCH = 1000
"""Characters of a search. SQLite refuses patterns of 50,000 characters, and some thousand conditions."""


def kept(text: str) -> str:
    """Return a text as databases can keep it: PostgreSQL no character 0, none the halves of characters that stand for
    bytes of another encoding. A run must not be lost because its error has one."""
    if text.isascii():
        return text.replace("\0", "\ufffd")
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def searched(words: Iterable[str]) -> list[str]:
    """Return the words of a search as texts in the database are kept; UsageError if they are too long."""
    found = [kept(word) for word in words]
    length = len(" ".join(found))
    if length > LONGEST_SEARCH:
        raise UsageError(f"a search has at most {LONGEST_SEARCH} characters, this one has {length}")
    return found


class String(TypeDecorator):
    """Text of any characters, see `kept`."""

    impl = _String
    cache_ok = True

    def process_bind_param(self, value, dialect):
        return kept(value) if isinstance(value, str) else value


class Text(String):
    """Long text of any characters."""

    impl = _Text
    cache_ok = True


submissions = Table(
    "submissions",
    metadata,
    Column("rid", Integer, primary_key=True, autoincrement=False),
    Column("request", String, unique=True),  # of the run that has submitted it, see `Queue.submit`
    Column("pipeline", String, nullable=False),
    Column("expid", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("due_date", Float),
    Column("flush", Boolean, nullable=False),
    Column("position", Float, nullable=False),  # order among equals, by default the number
    Column("held", Text),  # why it is held; null if it is not
    Column("after", Integer),  # the run that must have succeeded
    Column("repeat", Integer, nullable=False),  # how often it is submitted again; -1: without end
    Column("person", String),
    Column("submitted", Float, nullable=False),
    Column("message", Text),  # of the commit
    Column("termination", Boolean, nullable=False),  # was requested of the run, which has not seen it
)

runs = Table(
    "runs",
    metadata,
    Column("rid", Integer, primary_key=True, autoincrement=False),
    Column("class_name", String),
    Column("file", String),
    Column("repo_rev", String),
    Column("pipeline", String),
    Column("priority", Integer),
    Column("person", String),
    Column("expid", Text),
    Column("submitted", Float),
    Column("started", Float),
    Column("run_time", Float),
    Column("ended", Float),
    Column("status", String),
    Column("error", Text),
    Column("results", String),  # path of its HDF5 file, relative to the folder of results
    Column("text", Text),  # what a search by text looks at
)
Index("runs_class_name", runs.c.class_name)
Index("runs_ended", runs.c.ended)

arguments = Table(
    "arguments",
    metadata,
    Column("rid", Integer, primary_key=True, autoincrement=False),
    Column("name", String, primary_key=True),
    Column("value", Text),
    Column("number", Float),  # the value, if it is a number
)
Index("arguments_number", arguments.c.name, arguments.c.number)

results = Table(
    "results",
    metadata,
    Column("rid", Integer, primary_key=True, autoincrement=False),
    Column("name", String, primary_key=True),  # of a dataset that is a number, or FIT.PARAMETER
    Column("number", Float, nullable=False),
    Column("error", Float),  # standard error of a fit's parameter
)
Index("results_number", results.c.name, results.c.number)

reads = Table(
    "reads",
    metadata,
    Column("rid", Integer, primary_key=True, autoincrement=False),
    Column("key", String, primary_key=True),  # of a dataset that it had not set itself
    Column("time", Float, nullable=False),
)
Index("reads_key", reads.c.key, reads.c.time)

tags = Table(
    "tags",
    metadata,
    Column("rid", Integer, primary_key=True, autoincrement=False),
    Column("tag", String, primary_key=True),
)

notes = Table(
    "notes",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("rid", Integer, nullable=False),
    Column("time", Float, nullable=False),
    Column("person", String),
    Column("text", Text, nullable=False),
)

parameters = Table(
    "parameters",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", String, nullable=False),
    Column("time", Float, nullable=False),
    Column("value", Text),  # null: deleted
    Column("metadata", Text),
    Column("rid", Integer),  # the run that has written it
    Column("record", Integer),  # number of the record in its journal
    Column("person", String),
    Column("kind", String),  # null: set; "checked": found to be still good
    Column("validity", Float),  # seconds for which the value is valid; null: unknown
    Column("note", Text),
)
Index("parameters_key", parameters.c.key, parameters.c.id)
Index("parameters_record", parameters.c.rid, parameters.c.record, unique=True)

proposals = Table(
    "proposals",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", String, nullable=False),
    Column("time", Float, nullable=False),
    Column("value", Text, nullable=False),
    Column("metadata", Text, nullable=False),
    Column("validity", Float),
    Column("rid", Integer, nullable=False),
    Column("record", Integer, nullable=False),
    Column("objection", Text),  # why the rule has not accepted it; null if it has
    Column("decision", String),  # "accepted" or "rejected"; null: it waits for a person
    Column("decided", Float),
    Column("person", String),  # who has decided; null: the rule
    Column("note", Text),
)
Index("proposals_record", proposals.c.rid, proposals.c.record, unique=True)
Index("proposals_decision", proposals.c.decision)

calibrations = Table(
    "calibrations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("person", String),
    Column("started", Float, nullable=False),
    Column("ended", Float),  # null: in progress
    Column("forced", Boolean, nullable=False),
    Column("steps", Text, nullable=False),  # see `calibrator.Step`
)

alarms = Table(
    "alarms",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False),
    Column("time", Float, nullable=False),
    Column("state", String, nullable=False),  # into which it has gone, see `alarms.Alarm`
    Column("reason", Text),
    Column("person", String),  # who has acknowledged it
    Column("note", Text),
)
Index("alarms_name", alarms.c.name, alarms.c.id)

locks = Table(
    "locks",
    metadata,
    Column("kind", String, primary_key=True),  # "pipeline" or "device"
    Column("name", String, primary_key=True),
    Column("person", String),
    Column("note", Text, nullable=False),
    Column("since", Float, nullable=False),
    Column("expires", Float, nullable=False),
)

logbook = Table(
    "logbook",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("entry", Integer, nullable=False),
    Column("version", Integer, nullable=False),  # of its text, from 1
    Column("time", Float, nullable=False),
    Column("person", String),  # null: the run
    Column("rid", Integer),  # this and what follows: of the first version
    Column("record", Integer),  # number of the record in the journal of the run that has written it
    Column("text", Text, nullable=False),
    Column("picture", LargeBinary),  # a PNG file
    Column("withdrawn", Boolean, nullable=False),
)
Index("logbook_entry", logbook.c.entry, logbook.c.version, unique=True)
Index("logbook_record", logbook.c.rid, logbook.c.record, unique=True)
Index("logbook_time", logbook.c.time)

layouts = Table(
    "layouts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False),
    Column("version", Integer, nullable=False),
    Column("time", Float, nullable=False),
    Column("person", String),
    Column("content", Text, nullable=False),  # JSON; empty: it was withdrawn
)
Index("layouts_name", layouts.c.name, layouts.c.version, unique=True)

owner = Table(
    "owner",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),  # 1: a database belongs to one laboratory
    Column("laboratory", String, nullable=False),  # its identity, which is in its folder too
    Column("name", String, nullable=False),
    Column("place", String, nullable=False),  # computer and folder
)


def views() -> Iterable[str]:
    """Yield the statements that make the views for notebooks, those of an earlier version included."""
    for name, table, columns in (
        ("run_results", "results", ("name", "number", "error")),
        ("run_arguments", "arguments", ("name", "value", "number")),
    ):
        yield f"drop view if exists {name}"
        own = ", ".join(f"{table}.{column}" for column in columns)
        yield (
            f"create view {name} as select runs.rid, class_name, person, status, started, ended, {own} "
            f"from runs join {table} on {table}.rid = runs.rid"
        )


for _statement in views():
    event.listen(metadata, "after_create", DDL(_statement))
