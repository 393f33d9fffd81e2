"""The datasets that everybody sees: those that runs broadcast, and those that persist.

Changes come from the journals of runs and from clients, are applied in order, and go on as changes
to whoever follows. Every write of a persistent dataset is kept, with time, and run or person; one
that a run changes in place, at intervals and at the end of the run.
"""

import asyncio
import copy
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy
from sqlalchemy import Connection, func, insert, select

from .. import pyon
from ..controllers.publishing import Publication
from ..errors import Unwritable, UsageError
from ..experiment.datasets import BROADCAST, PERSIST, apply_change, subscript
from ..experiment.store import DatasetStore
from . import clock
from .database import Database, rows
from .journal import Record
from .tables import parameters, proposals, reads
from .theory import PREFIX

__all__ = ["CHECKED", "LiveDatasets", "Written"]

logger = logging.getLogger(__name__)

CHECKED = "checked"
"""Kind of an entry in the history: the value was found to be still good."""
FULL = 5.0
"""Seconds between attempts to write what a run has set while the disk was full."""
USES = 1000
"""Runs of which it is shown which value of a persistent dataset they have used."""
IN_PLACE = 10.0
"""Seconds between two entries for a persistent dataset that a run changes in place."""


class Written(NamedTuple):
    """When a persistent dataset was written."""

    changed: float
    """When it was set."""
    confirmed: float
    """When it was set, or found to be still good."""
    rid: int | None
    """The run that has done the latter."""
    validity: float | None
    """Seconds for which it is valid from then on, as was known then."""


class LiveDatasets:
    """The datasets: persistent ones in `store`, their history in `database`; `publication` for
    those who follow."""

    def __init__(self, store: DatasetStore, database: Database):
        self._store, self._database = store, database
        self.values: dict[str, tuple] = {key: tuple(entry) for key, entry in store.kept().items()}
        """By key: (persist, value, metadata)."""
        self._store.data |= {key: store._entry(key) for key in self.values}
        self.publication = Publication(lambda: self.values)
        self._flags: dict[int, dict[str, int]] = {}
        """By run: flags of the datasets that it has set."""
        self._begun: set[int] = set()
        """Runs whose `run` was called."""
        self._early: dict[int, list[Record]] = {}
        """By run: what it has changed in `prepare`, of datasets of a run in progress."""
        self._foreign: set[tuple[int, str]] = set()
        """Runs and datasets whose changes are not shown, because another run has set the dataset since."""
        self._seen: dict[int, int] = {}
        """By run: the last record in the history, when the laboratory was started."""
        self._unwritten: list[Callable[[Connection], object]] = []
        """Changes of the database by runs that could not be made yet, oldest first."""
        self.caught_up: list[Callable[[], None]] = []
        """Called when changes were made that could not be made before."""
        self._retry: asyncio.TimerHandle | None = None
        self._in_place: dict[str, tuple[int, int]] = {}
        """Datasets that differ from their newest entry in the history, as (run, record)."""
        self._kept_at: dict[str, float] = {}
        """When the newest entry for a dataset that is changed in place was made, on the monotonic clock."""
        self.written = self._last_writes()
        """By key, of what is in the history."""
        self.writes = Publication(lambda: self.written)
        """Changed with every write of a persistent dataset."""
        self.writers: dict[str, int] = {}
        """Datasets that a run has set last, and its number."""
        self.by_people: dict[str, str | None] = {}
        """Datasets that a person or client has set or deleted last, and who."""
        self.handlers: dict[str, Callable[[int, Record], None]] = {}
        """By operation: called with the records of runs that are no changes of datasets."""

    def _last_writes(self) -> dict[str, Written]:
        newest = select(func.max(parameters.c.id)).group_by(parameters.c.key)
        with self._database.view() as view:
            last = rows(view, select(parameters).where(parameters.c.id.in_(newest)))
            of_set = newest.where(parameters.c.kind.is_(None))
            changed = rows(view, select(parameters.c.key, parameters.c.time).where(parameters.c.id.in_(of_set)))
        times = {row["key"]: row["time"] for row in changed}
        return {
            row["key"]: Written(times.get(row["key"], row["time"]), row["time"], row["rid"], row["validity"])
            for row in last
            if row["value"] is not None
        }

    # Clients

    def get(self, key):
        """Return the value of a dataset; KeyError."""
        return self.values[key][1]

    def get_metadata(self, key):
        """Return the metadata of a dataset; KeyError."""
        return self.values[key][2]

    def set(self, key, value, persist=None, metadata=None, person=None):
        """Set a dataset; without `persist` or `metadata` they are unchanged. UsageError for what is no dataset."""
        _check(key, {} if metadata is None else metadata)
        self._set_by(person, key, value, persist, metadata)

    def _set_by(self, person, key, value, persist, metadata, change: dict | None = None):
        with self._undone_if_refused(key):
            self._set(key, value, persist, metadata, change, person=person)
            self._keep([key], person=person)
        self.by_people[key] = person

    def delete(self, key, person=None):
        """Delete a dataset; KeyError."""
        if key not in self.values:
            raise KeyError(key)
        with self._undone_if_refused(key):
            change = self._removed(key, person=person)
        self.by_people[key] = person
        self.publication.changed([change])

    @contextmanager
    def _undone_if_refused(self, key) -> Iterator[None]:
        """What is refused must not be there: if only the file or only the history has a change, because the disk got
        full in between, the dataset is again as it was."""
        before, writer = self.values.get(key), self.writers.pop(key, None)
        try:
            yield
        except UsageError:
            if writer is not None:
                self.writers[key] = writer
            try:
                if before is not None:
                    self._store.set(key, before[1], before[0], before[2])
                elif key in self._store.data:
                    self._store.delete(key)
            except Unwritable as error:  # it is in memory
                if before is not None:
                    self._store.write_later(key)
                    self._wait_for_space(error)
            if before is not None:
                self.values[key] = before
                self.publication.changed([{"action": "setitem", "path": [], "key": key, "value": before}])
            elif self.values.pop(key, None) is not None:
                self.publication.changed([{"action": "delitem", "path": [], "key": key}])
            raise

    def update(self, mod: dict, person=None):
        """Apply a change as clients send it; at the top level only ``setitem`` and ``delitem``."""
        if mod["path"]:
            key, whole = mod["path"][0], len(mod["path"]) == 1
            if whole and not (mod["action"] == "setitem" and mod["key"] in (0, 1, 2)):
                raise UsageError("a dataset consists of whether it persists, value and metadata: set 0, 1 or 2")
            persist, value, metadata = _with_change(self.values[key], mod)
            if metadata is not self.values[key][2]:
                _check(key, metadata)
            # Those who follow have tuples, of which no part can be set.
            self._set_by(person, key, value, bool(persist), metadata, None if whole else mod)
        elif mod["action"] == "setitem":
            persist, value, metadata = mod["value"]
            self.set(mod["key"], value, persist, metadata, person)
        elif mod["action"] == "delitem":
            self.delete(mod["key"], person)
        else:
            raise UsageError("a dataset is set (setitem) or deleted (delitem)")

    # Runs

    def adopt(self, rid: int):
        """Prepare for the records of a run that was begun under an earlier laboratory."""
        with self._database.view() as view:
            last = [
                view.execute(select(func.max(table.c.record)).where(table.c.rid == rid)).scalar()
                for table in (parameters, proposals)
            ]
        self._seen[rid] = max((number for number in last if number is not None), default=-1)

    def take(self, rid: int, records: Iterable[Record]):
        """Apply the records of a run."""
        flags = self._flags.setdefault(rid, {})
        changes: list[dict] = []
        written: dict[str, int] = {}
        for record in self._in_turn(rid, records):
            try:
                self._take(rid, record, flags, changes, written)
            except (LookupError, TypeError, ValueError, AttributeError, UsageError) as error:
                logger.error("a change of dataset '%s' by run %d is not shown: %s", record.key, rid, error)
        if changes:
            self.publication.changed(changes)
        for key, number in written.items():
            self._keep([key], rid=rid, record=number)

    def _in_turn(self, rid: int, records: Iterable[Record]) -> Iterator[Record]:
        """Yield records. What a run sets in `prepare` waits for its turn if that is the data of a run in progress."""
        for record in records:
            if record.operation == "stage" and record.key == "run":
                self._begun.add(rid)
                yield from self._early.pop(rid, ())
            elif rid not in self._begun and self._is_early(rid, record):
                self._early.setdefault(rid, []).append(record)
                continue
            yield record

    def _is_early(self, rid: int, record: Record) -> bool:
        if record.operation == "set" and record.more[0] & BROADCAST and not record.more[0] & PERSIST:
            return any(flags.get(record.key, 0) & BROADCAST for other, flags in self._flags.items() if other != rid)
        changes = record.operation in ("set", "append", "assign", "delete")
        return changes and any(early.key == record.key for early in self._early.get(rid, ()))

    def _take_over(self, rid: int, key: str):
        """Show no more changes of a dataset by other runs: they would be mixed with the data of this one."""
        for other, flags in self._flags.items():
            if other != rid and flags.get(key, 0) & BROADCAST:
                flags[key] = 0
                self._foreign.add((other, key))

    def _take(self, rid, record, flags, changes, written):
        """Apply a record; `written` gets those whose values are to be entered into the history."""
        key = record.key
        if record.operation in ("set", "delete") and key in written:
            self._keep([key], rid=rid, record=written.pop(key))  # it is another value from now on
        match record.operation:
            case "set":
                now, metadata = record.more
                before = flags.get(key, 0)
                flags[key] = now
                if now & PERSIST and self._is_old(rid, record) and not self._is_last_writer(rid, key):
                    flags[key] = 0  # applied by an earlier laboratory, and set since by another one
                    return
                if now & BROADCAST:
                    self._take_over(rid, key)
                    self.by_people.pop(key, None)
                    self.writers[key] = rid
                    # Everything before it, in order.
                    self.publication.changed(changes)
                    changes.clear()
                    self._set(key, record.value, bool(now & PERSIST), metadata, rid=rid, record=record.number)
                    changes += self._outdated(rid, key, flags, record.number)
                    if now & PERSIST and not self._is_old(rid, record):
                        written[key] = record.number
                elif before & BROADCAST and key in self.values:
                    changes.append(self._removed(key, rid=rid, record=record.number))
            case "delete":
                if flags.pop(key, 0) & BROADCAST and key in self.values:
                    changes.append(self._removed(key, rid=rid, record=record.number))
            case "append" | "assign" if (rid, key) in self._foreign:
                self._foreign.discard((rid, key))
                text = "another run has set dataset '%s', too: what run %d adds is in its file, but not shown"
                logger.warning(text, key, rid)
            case "append" if flags.get(key, 0) & BROADCAST:
                self.values[key][1].extend(record.value)
                path = [key, 1]  # one for all: who looks at changes knows by it that they are of the same kind
                changes.extend({"action": "append", "path": path, "x": value} for value in record.value)
                self._changed_in_place(rid, record)
            case "assign" if flags.get(key, 0) & BROADCAST:
                index = subscript(record.more)
                self.values[key][1][index] = record.value
                changes.append({"action": "setitem", "path": [key, 1], "key": index, "value": record.value})
                self._changed_in_place(rid, record)
            case "propose" | "confirm" if not self._is_old(rid, record):
                self.handlers[record.operation](rid, record)
            case "fit" | "note":
                self.handlers[record.operation](rid, record)

    def _outdated(self, rid: int, key: str, flags: dict[str, int], number: int) -> list[dict]:
        """Remove the theory curve of another run, of other arguments, from beside the data of this one; returns the
        changes."""
        theory = PREFIX + key
        if theory in flags or theory not in self.values or self.values[theory][0]:
            return []
        return [self._removed(theory, rid=rid, record=number)]

    def _is_old(self, rid: int, record: Record) -> bool:
        """Return whether an earlier laboratory has taken a record."""
        return record.number <= self._seen.get(rid, -1)

    def _is_last_writer(self, rid: int, key: str) -> bool:
        return key in self.written and self.written[key].rid == rid

    def _changed_in_place(self, rid: int, record: Record):
        self._store.changed(record.key)
        if not self.values[record.key][0] or self._is_old(rid, record):
            return
        self._in_place[record.key] = (rid, record.number)
        now = time.monotonic()
        if now - self._kept_at.setdefault(record.key, now) >= IN_PLACE:
            self._keep_in_place(record.key)

    def _keep_in_place(self, key: str):
        """Enter a dataset that was changed in place into the history."""
        rid, number = self._in_place.pop(key)
        self._kept_at[key] = time.monotonic()
        self._keep([key], rid=rid, record=number)

    def ended(self, rid: int):
        """Forget a run."""
        for key in [key for key, (writer, _) in self._in_place.items() if writer == rid]:
            self._keep_in_place(key)
            self._kept_at.pop(key, None)
        self._flags.pop(rid, None)
        self._seen.pop(rid, None)
        self._early.pop(rid, None)
        self._begun.discard(rid)
        self._foreign = {each for each in self._foreign if each[0] != rid}
        try:
            self._store.save()
        except Unwritable as error:
            self._wait_for_space(error)

    # Calibrations

    def accept(self, key, value, metadata, **origin):
        """Set a parameter to a value that was accepted. `origin`: further columns of the history."""
        with self._undone_if_refused(key):
            self._set(key, value, True, metadata)
            self._keep([key], **origin)

    def confirm(self, key, **origin):
        """Note that a parameter is as good as if it were set now; KeyError if there is none."""
        if not self.values[key][0]:
            raise KeyError(key)
        self._keep([key], kind=CHECKED, **origin)

    # Both

    def _set(self, key, value, persist, metadata, change: dict | None = None, **origin):
        """Set a dataset. `change`: what leads there from the value that is known, for those who follow."""
        persisted = key in self.values and self.values[key][0]
        try:
            self._store.set(key, value, persist, metadata)
        except Unwritable as error:
            if origin.get("rid") is None:
                raise  # whoever has asked is told
            self._store.write_later(key)
            self._wait_for_space(error)
        self.values[key] = tuple(self._store.data[key])
        if persisted and not self.values[key][0]:
            self._record_deletion(key, origin)
        self.publication.changed([change or {"action": "setitem", "path": [], "key": key, "value": self.values[key]}])

    def _removed(self, key, **origin) -> dict:
        self._store.delete(key)
        persisted = self.values.pop(key)[0]
        self.writers.pop(key, None)
        if persisted:
            self._record_deletion(key, origin)
        return {"action": "delitem", "path": [], "key": key}

    def _record_deletion(self, key, origin: dict):
        self._record([{"key": key, "value": None, "metadata": None, **origin}])

    def _keep(self, keys, **origin):
        """Record the persistent ones of these datasets in the history."""
        found = [
            {"key": key, "value": pyon.encode(self.values[key][1]), "metadata": pyon.encode(self.values[key][2])}
            for key in keys
            if key in self.values and self.values[key][0]
        ]
        self._record([{**row, **origin} for row in found])

    def _record(self, found: list[dict]):
        if not found:
            return
        entries = [{"time": clock.now(), **row} for row in found]

        def enter(change: Connection):
            # Each with its own columns: those of the first one would count for all.
            for entry in entries:
                change.execute(insert(parameters).values(**entry))

        self.write(enter, by_run=all(_is_by_run(entry) for entry in entries))
        for entry in entries:
            self._note(entry)
        self.writes.changed([])

    def write(self, change: Callable[[Connection], object], by_run: bool):
        """Change the database, after what could not be written before; what a run has done is written later if that
        is impossible now. UsageError otherwise: whoever has asked is told."""
        try:
            self._write([*self._unwritten, change])
        except UsageError as error:
            if not by_run:
                raise
            self._unwritten.append(change)
            self._wait_for_space(error)

    def write_pending(self):
        """Write what could not be written before; UsageError."""
        if self._unwritten:
            self._write(self._unwritten)

    def _write(self, changes: list[Callable[[Connection], object]]):
        with self._database.change() as connection:
            for change in changes:
                change(connection)
        if self._unwritten:
            self._unwritten.clear()
            for call in self.caught_up:
                call()

    def _wait_for_space(self, error: UsageError):
        """Keep what a run has set in memory, and write it later."""
        if self._retry is None:
            logger.error("%s; it is tried again", error)
            self._retry = asyncio.get_running_loop().call_later(FULL, self._write_again)

    def _write_again(self):
        self._retry = None
        try:
            self._store.save()
            self.write_pending()
        except UsageError:
            self._retry = asyncio.get_running_loop().call_later(FULL, self._write_again)
            return
        logger.warning("what could not be written is written")

    def _note(self, entry: dict):
        key, now = entry["key"], entry["time"]
        self._in_place.pop(key, None)
        if entry["value"] is None:
            self.written.pop(key, None)
            return
        checked = entry.get("kind") == CHECKED and key in self.written
        changed = self.written[key].changed if checked else now
        self.written[key] = Written(changed, now, entry.get("rid"), entry.get("validity"))

    def history(self, key: str, limit: int | None = 100) -> list[dict]:
        """Return the writes of a persistent dataset, newest first, at most `limit`; None: all. `used`: the runs that
        have read this value, the newest `USES` of all."""
        query = select(parameters).where(parameters.c.key == key).order_by(parameters.c.id.desc())
        query = query.limit(None if limit is None else max(0, limit))
        using = select(reads.c.rid, reads.c.time).where(reads.c.key == key).order_by(reads.c.time.desc()).limit(USES)
        with self._database.view() as view:
            found, used = rows(view, query), rows(view, using)
        for row in found:
            row["used"] = [use["rid"] for use in used if row["time"] <= use["time"]]
            used = used[len(row["used"]) :]
        return found

    def close(self):
        """Write what is not written yet."""
        if self._retry is not None:
            self._retry.cancel()
            self._write_again()
            if self._retry is not None:
                self._retry.cancel()
        self._store.close_db()


def _with_change(entry: tuple, mod: dict) -> list:
    """Return a dataset after a change of a part of it. The part is a copy if the dataset is kept, or its metadata are
    changed: the change may be refused."""
    changed = list(entry)
    place: Any = changed
    for step in mod["path"][1:] if entry[0] or list(mod["path"][1:2]) == [2] else ():
        if isinstance(place, tuple | numpy.ndarray):
            break  # it is copied with all that is in it
        place[step] = copy.deepcopy(place[step]) if isinstance(place[step], tuple) else copy.copy(place[step])
        place = place[step]
    apply_change({mod["path"][0]: changed}, mod)
    return changed


def _is_by_run(entry: dict) -> bool:
    return entry.get("rid") is not None and entry.get("person") is None


def _check(key, metadata):
    """Raise UsageError for what is no name or no metadata of a dataset: nobody could read it."""
    if not isinstance(key, str) or not key:
        raise UsageError(f"a dataset has a text as its name, not {key!r}")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("unit", ""), str | None):
        raise UsageError(f"the metadata of {key} are a dictionary, its unit a text: not {metadata!r}")
