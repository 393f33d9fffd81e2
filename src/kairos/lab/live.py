"""The datasets that everybody sees: those that runs broadcast, and those that persist.

Changes come from the journals of runs and from clients, are applied in order, and go on as changes
to whoever follows. Every write of a persistent dataset is kept, with time, and run or person.
"""

import logging
import time
from collections.abc import Iterable

from sqlalchemy import func, insert, select

from .. import pyon
from ..controllers.publishing import Publication
from ..errors import UsageError
from ..experiment.datasets import BROADCAST, PERSIST, apply_change, subscript
from ..experiment.store import DatasetStore
from .database import Database, rows
from .journal import Record
from .tables import parameters

__all__ = ["LiveDatasets"]

logger = logging.getLogger(__name__)


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
        self._seen: dict[int, int] = {}
        """By run: the last record in the history, when the laboratory was started."""

    # Clients

    def get(self, key):
        """Return the value of a dataset; KeyError."""
        return self.values[key][1]

    def get_metadata(self, key):
        """Return the metadata of a dataset; KeyError."""
        return self.values[key][2]

    def set(self, key, value, persist=None, metadata=None, person=None):
        """Set a dataset; without `persist` or `metadata` they are unchanged."""
        self._set(key, value, persist, metadata)
        self._keep([key], person=person)

    def delete(self, key, person=None):
        """Delete a dataset; KeyError."""
        persist = self.values[key][0]
        self._delete(key)
        if persist:
            self._record([{"key": key, "value": None, "metadata": None, "person": person}])

    def update(self, mod: dict, person=None):
        """Apply a change as clients send it; at the top level only ``setitem`` and ``delitem``."""
        if mod["path"]:
            key = mod["path"][0]
            entry = list(self.values[key])
            apply_change({key: entry}, mod)
            self.values[key] = tuple(entry)
            self._store.data[key] = self._store.data[key]._replace(value=entry[1], metadata=entry[2])
            self.publication.changed([mod])
            self._store.changed(key)
            self._keep([key], person=person)
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
            last = view.execute(select(func.max(parameters.c.record)).where(parameters.c.rid == rid)).scalar()
        self._seen[rid] = -1 if last is None else last

    def take(self, rid: int, records: Iterable[Record]):
        """Apply the records of a run."""
        flags = self._flags.setdefault(rid, {})
        changes: list[dict] = []
        written: list[tuple[str, int]] = []
        for record in records:
            try:
                self._take(rid, record, flags, changes, written)
            except (LookupError, TypeError, ValueError, AttributeError, UsageError) as error:
                logger.error("a change of dataset '%s' by run %d is not shown: %s", record.key, rid, error)
        if changes:
            self.publication.changed(changes)
        for key, number in written:
            self._keep([key], rid=rid, record=number)

    def _take(self, rid, record, flags, changes, written):
        key = record.key
        match record.operation:
            case "set":
                now, metadata = record.more
                before = flags.get(key, 0)
                flags[key] = now
                if now & PERSIST and record.number <= self._seen.get(rid, -1):
                    return  # applied by an earlier laboratory; it may have been set since
                if now & BROADCAST:
                    # Everything before it, in order.
                    self.publication.changed(changes)
                    changes.clear()
                    self._set(key, record.value, bool(now & PERSIST), metadata)
                    if now & PERSIST:
                        written.append((key, record.number))
                elif before & BROADCAST and key in self.values:
                    changes.append(self._removed(key))
            case "delete":
                if flags.pop(key, 0) & BROADCAST and key in self.values:
                    changes.append(self._removed(key))
            case "append" if flags.get(key, 0) & BROADCAST:
                self.values[key][1].extend(record.value)
                changes.extend({"action": "append", "path": [key, 1], "x": value} for value in record.value)
                self._store.changed(key)
            case "assign" if flags.get(key, 0) & BROADCAST:
                index = subscript(record.more)
                self.values[key][1][index] = record.value
                changes.append({"action": "setitem", "path": [key, 1], "key": index, "value": record.value})
                self._store.changed(key)

    def ended(self, rid: int):
        """Forget a run."""
        self._flags.pop(rid, None)
        self._seen.pop(rid, None)
        self._store.save()

    # Both

    def _set(self, key, value, persist, metadata):
        self._store.set(key, value, persist, metadata)
        self.values[key] = tuple(self._store.data[key])
        self.publication.changed([{"action": "setitem", "path": [], "key": key, "value": self.values[key]}])

    def _removed(self, key) -> dict:
        self._store.delete(key)
        del self.values[key]
        return {"action": "delitem", "path": [], "key": key}

    def _delete(self, key):
        self.publication.changed([self._removed(key)])

    def _keep(self, keys, **origin):
        """Record the persistent ones of these datasets in the history."""
        found = [
            {"key": key, "value": pyon.encode(self.values[key][1]), "metadata": pyon.encode(self.values[key][2])}
            for key in keys
            if key in self.values and self.values[key][0]
        ]
        self._record([{**row, **origin} for row in found])

    def _record(self, found: list[dict]):
        if found:
            with self._database.change() as change:
                change.execute(insert(parameters), [{"time": time.time(), **row} for row in found])

    def history(self, key: str, limit: int = 100) -> list[dict]:
        """Return the writes of a persistent dataset, newest first."""
        query = select(parameters).where(parameters.c.key == key).order_by(parameters.c.id.desc()).limit(limit)
        with self._database.view() as view:
            return rows(view, query)

    def close(self):
        """Write what is not written yet."""
        self._store.close_db()
