"""The index of runs: entering, searching, and rebuilding it from the files of the runs."""

import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Select, cast, delete, func, insert, or_, select

from .. import pyon, resultfiles
from ..errors import UsageError
from .database import Database, rows
from .tables import String, arguments, notes, reads, results, runs, searched, tags
from .values import finite

__all__ = ["enter", "filtered", "record_in", "records", "reindex", "shown"]

CONDITION = re.compile(r"([\w./]+)\s*(<=|>=|!=|=|<|>)\s*(.+)")
"""A condition on an argument or a property of runs, such as ``detuning>=1e3``."""
PROPERTIES = ("rid", "status", "class_name", "file", "pipeline", "person", "repo_rev", "started", "ended")
BATCH = 500
"""Runs entered in one transaction when the index is rebuilt."""
MANY = 20_000
"""Matches of a condition from which on a limited search looks at one run after the other, the newest first: it then
soon has as many as it needs, while a list of all matches takes longer than anything else."""


def enter(change: Connection, records: list[dict]):
    """Enter runs, replacing what was entered for them before. `records`: see `results.record_of`;
    of several with the same number the last counts."""
    newest = {record["rid"]: record for record in records}
    if not newest:
        return
    for table in (arguments, results, reads, runs):
        change.execute(delete(table).where(table.c.rid.in_(list(newest))))
    change.execute(insert(runs), [_row(record) for record in newest.values()])
    given = [
        {"rid": rid, "name": name, "value": text, "number": _number(text)}
        for rid, record in newest.items()
        for name, text in (record.get("arguments") or {}).items()
    ]
    if given:
        change.execute(insert(arguments), given)
    found = [row for record in newest.values() for row in _results(record)]
    if found:
        change.execute(insert(results), found)
    read = [row for record in newest.values() for row in _reads(record)]
    if read:
        change.execute(insert(reads), read)


def _results(record: dict) -> Iterator[dict]:
    """Yield the rows of a run's results: its numbers, and the parameters of its fits."""
    rows_by_name = {name: {"number": value, "error": None} for name, value in (record.get("scalars") or {}).items()}
    for fit, result in (record.get("fits") or {}).items():
        for name, value in result.get("values", {}).items():
            rows_by_name[f"{fit}.{name}"] = {"number": value, "error": result.get("errors", {}).get(name)}
    for name, row in rows_by_name.items():
        if (number := finite(row["number"])) is not None:
            yield {"rid": record["rid"], "name": name, "number": number, "error": finite(row["error"])}


def _reads(record: dict) -> Iterator[dict]:
    """Yield the rows of what a run has read. Records of earlier versions have the names only."""
    read, begun = record.get("read") or {}, record.get("run_time") or record.get("started") or 0.0
    times = read if isinstance(read, dict) else dict.fromkeys(read, begun)
    for key, moment in times.items():
        yield {"rid": record["rid"], "key": key, "time": moment}


def _row(record: dict) -> dict:
    row = {name: record.get(name) for name in runs.c.keys() if name != "text"}
    return {**row, "text": _text(record, record.get("arguments") or {})}


def _text(record: dict, given: dict) -> str:
    """Return what a search by text looks at, in lower case."""
    words = [record.get(name) for name in ("class_name", "file", "person", "status", "repo_rev", "error")]
    return " ".join(str(word) for word in [*words, *(f"{k}={v}" for k, v in given.items())] if word).lower()


def _number(text: str) -> float | None:
    try:
        value = pyon.decode(text)
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    except (ValueError, OverflowError):
        return None
    return None if number is not None and math.isnan(number) else number  # PostgreSQL takes NaN for the largest


def filtered(words: list[str], limit: int | None = None, many: Callable[[Select], bool] | None = None) -> Select:
    """Return the query for runs that match all words, newest first; UsageError for an unusable one.
    `many(query)`: returns whether a query has many rows, which a limited search then does not list.

    A word is a text that occurs in class, file, person, status, error, an argument, a tag or a note;
    or a condition, whose name is a property of runs (`PROPERTIES`), ``tag``, an argument, or a
    result: a dataset that is a number, or ``FIT.PARAMETER``.
    """
    query = select(runs).order_by(runs.c.rid.desc())
    given: dict[str, list] = {}
    for word in searched(words):
        condition = CONDITION.fullmatch(word)
        if condition is None:
            query = query.where(_mentioned(word.lower()))
        elif condition[1] in ("tag", *PROPERTIES):
            query = query.where(_property(*condition.groups()))
        else:
            given.setdefault(condition[1], []).append(_argument(*condition.groups()[1:]))
    for name, conditions in given.items():
        # Together, so that a range is one look into the index.
        of_argument, of_result = zip(*conditions, strict=True)
        found = [select(arguments.c.rid).where(arguments.c.name == name, *of_argument)]
        if all(each is not None for each in of_result):
            found.append(select(results.c.rid).where(results.c.name == name, *of_result))
        if limit is not None and many is not None and any(many(each) for each in found):
            matching = [each.where(each.selected_columns.rid == runs.c.rid).exists() for each in found]
        else:
            matching = [runs.c.rid.in_(each) for each in found]
        query = query.where(or_(*matching))
    return query if limit is None else query.limit(limit)


_COMPARISONS = {
    "=": lambda column, value: column == value,
    "!=": lambda column, value: column != value,
    "<": lambda column, value: column < value,
    "<=": lambda column, value: column <= value,
    ">": lambda column, value: column > value,
    ">=": lambda column, value: column >= value,
}


def _mentioned(text: str):
    """Return the condition that a text in lower case occurs in what is known of a run or said of it."""
    said = [
        runs.c.rid.in_(select(table.c.rid).where(func.lower(column).contains(text, autoescape=True)))
        for table, column in ((tags, tags.c.tag), (notes, notes.c.text))
    ]
    return or_(runs.c.text.contains(text, autoescape=True), *said)


def _property(name: str, sign: str, text: str):
    compared = _COMPARISONS[sign]
    if name == "tag":
        return runs.c.rid.in_(select(tags.c.rid).where(compared(tags.c.tag, text)))
    column: Any = runs.c[name]
    if isinstance(column.type, String):
        return compared(column, text)
    number = _number(text)
    if number is None:
        raise UsageError(f"{name}{sign}{text}: {name} is a number")
    return compared(column, number)


def _argument(sign: str, text: str) -> tuple:
    """Return the conditions on an argument and on a result, which is a number; None if it cannot be met."""
    number, compared = _number(text), _COMPARISONS[sign]
    if number is not None:
        return compared(arguments.c.number, number), compared(results.c.number, number)
    met = compared(cast(arguments.c.value, String), _as_value(text))
    # A number is neither before nor behind a text.
    return met if sign in ("=", "!=") else met & arguments.c.number.is_(None), None


def _as_value(text: str) -> str:
    """Return the PYON text of a value as typed, in which quotes may be missing."""
    try:
        return pyon.encode(pyon.decode(text))
    except ValueError:
        return pyon.encode(text)


def records(database: Database, words: list[str], limit: int | None = None, listed: bool = False) -> list[dict]:
    """Return the runs that match all words, newest first; see `filtered`. `listed`: without what was submitted, which
    may be large."""
    with database.view() as view:

        def many(query: Select) -> bool:
            some = query.limit(MANY).subquery()
            return (view.execute(select(func.count()).select_from(some)).scalar() or 0) >= MANY

        query = filtered(words, limit, many)
        if listed:
            query = query.with_only_columns(*(column for column in runs.c if column.name not in ("expid", "text")))
        return rows(view, query)


def shown(database: Database, rid: int) -> dict:
    """Return everything the index has of a run; UsageError if there is none."""
    with database.view() as view:
        found = rows(view, select(runs).where(runs.c.rid == rid))
        if not found:
            raise UsageError(f"there is no finished run {rid}")
        given = rows(view, select(arguments.c.name, arguments.c.value).where(arguments.c.rid == rid))
        tagged = rows(view, select(tags.c.tag).where(tags.c.rid == rid).order_by(tags.c.tag))
        written = rows(view, select(notes).where(notes.c.rid == rid).order_by(notes.c.id))
        numbers = rows(view, select(results).where(results.c.rid == rid).order_by(results.c.name))
    return {
        **{name: value for name, value in found[0].items() if name != "text"},
        "arguments": {row["name"]: row["value"] for row in given},
        "numbers": {row["name"]: [row["number"], row["error"]] for row in numbers},
        "tags": [row["tag"] for row in tagged],
        "notes": [{name: row[name] for name in ("time", "person", "text")} for row in written],
    }


def detailed(database: Database, found: list[dict], most: int | None = None) -> list[dict]:
    """Return the records of runs with their arguments, tags and numbers, in a query for each. `most`: characters of an
    argument's text, beyond which it is cut and ends in an ellipsis; None: all."""
    value = arguments.c.value if most is None else func.substr(arguments.c.value, 1, most + 1).label("value")
    rids = [record["rid"] for record in found]
    parts: dict[int, dict] = {rid: {"arguments": {}, "tags": [], "numbers": {}} for rid in rids}
    with database.view() as view:
        for at in range(0, len(rids), BATCH):
            some = rids[at : at + BATCH]
            columns = arguments.c.rid, arguments.c.name, value
            for row in rows(view, select(*columns).where(arguments.c.rid.in_(some))):
                parts[row["rid"]]["arguments"][row["name"]] = shortened(row["value"], most)
            for row in rows(view, select(tags).where(tags.c.rid.in_(some)).order_by(tags.c.tag)):
                parts[row["rid"]]["tags"].append(row["tag"])
            for row in rows(view, select(results).where(results.c.rid.in_(some)).order_by(results.c.name)):
                parts[row["rid"]]["numbers"][row["name"]] = [row["number"], row["error"]]
    return [{**record, **parts[record["rid"]]} for record in found]


def shortened(text: str | None, most: int | None) -> str | None:
    """Return a text of which the rest is cut."""
    return text if text is None or most is None or len(text) <= most else text[:most] + "…"


def count(database: Database) -> int:
    """Return the number of runs."""
    with database.view() as view:
        return view.execute(select(func.count()).select_from(runs)).scalar() or 0


def record_in(path: Path, results: Path) -> dict | None:
    """Return the record of the run whose HDF5 file, or whose record, is `path`; None if it is
    unreadable."""
    if path.suffix == ".json":
        try:
            record = json.loads(path.read_text())
            return record if isinstance(record, dict) and isinstance(record.get("rid"), int) else None
        except (OSError, ValueError):
            return None
    return _record_in_datasets(path, results)


def _record_in_datasets(path: Path, results: Path) -> dict | None:
    """Return the record of a run of ARTIQ, or one whose own record is lost."""
    try:
        with resultfiles.opened(path) as file:
            expid = pyon.decode(resultfiles.text(file["expid"])) if "expid" in file else {}
            rid, started = int(resultfiles.value(file["rid"])), float(resultfiles.value(file["start_time"]))
            run_time = float(resultfiles.value(file["run_time"])) if "run_time" in file else None
            status = resultfiles.text_of(file, "provenance/status", "completed")
            scalars = _scalars(file)
            given = dict(expid.get("arguments") or {})
    except UsageError:
        return None
    return {
        "rid": rid,
        "class_name": expid.get("class_name") or path.stem.partition("-")[2],
        "file": expid.get("file"),
        "repo_rev": expid.get("repo_rev"),
        "expid": pyon.encode(expid),
        "arguments": {name: pyon.encode(value) for name, value in given.items()},
        "started": started,
        "run_time": run_time,
        "ended": path.stat().st_mtime,
        "status": status,
        "results": str(path.relative_to(results)),
        "scalars": scalars,
    }


def _scalars(file) -> dict[str, float]:
    """Return the datasets of a file that are single numbers."""
    every = resultfiles.datasets(resultfiles.group_of(file, "datasets"))
    return {name: float(node[()]) for name, node in every if node.shape == () and node.dtype.kind in "iuf"}


def _files(results: Path) -> Iterator[Path]:
    """Yield one file of each run: its record, or else its datasets."""
    for path in sorted(results.glob("*/*/*")):
        if re.match(r"\d{9}-", path.name) and (
            path.suffix == ".json" or (path.suffix == ".h5" and not path.with_suffix(".json").exists())
        ):
            yield path


def reindex(database: Database, results) -> tuple[int, list[str]]:
    """Enter all runs in the folder of results. Returns their number, and the names of files that
    cannot be read. Tags and notes are kept."""
    folder = Path(results).resolve()
    entered, unreadable, batch = 0, [], []

    def commit():
        nonlocal entered
        with database.change() as change:
            enter(change, batch)
        entered += len(batch)
        batch.clear()

    for path in _files(folder):
        record = record_in(path, folder)
        if record is None:
            unreadable.append(str(path.relative_to(folder)))
        else:
            batch.append(record)
        if len(batch) >= BATCH:
            commit()
    commit()
    return entered, unreadable
