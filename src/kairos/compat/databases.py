"""Databases with the names of ARTIQ's master modules, stored in files and with notification of dataset changes.

A change of datasets is a dictionary: ``action``, the ``path`` to the changed element, and the
action's operands (``setitem``: key and value; ``delitem``: key; ``append``: x; ``insert``: i, x;
``pop``: i).
"""

import copy

from .. import devices
from ..experiment import datasets
from ..experiment.store import DatasetStore

__all__ = ["DatasetDB", "DatasetManager", "DeviceDB", "device_db_from_file"]


def device_db_from_file(filename) -> dict:
    """Return the dictionary ``device_db`` of a file."""
    return devices.DeviceDB.load(filename).entries


class DeviceDB(devices.DeviceDB):
    """The device database in the file `backing_file`; `scan` reloads it."""

    def __init__(self, backing_file):
        super().__init__(device_db_from_file(backing_file), str(backing_file))

    def scan(self):
        """Reload the file."""
        self.entries = device_db_from_file(self.path)

    def get_device_db(self) -> dict:
        return self.entries

    def get(self, name, resolve_alias=False):
        """Return the entry `name`, following aliases if requested."""
        return super().get(name, resolve_alias)


class DatasetDB(DatasetStore):
    """Broadcast datasets; the persistent ones are kept in `persist_file`, whose content is loaded
    at once. They are written when they change: `autosave_period` is ignored."""

    def __init__(self, persist_file, autosave_period=None):
        super().__init__(persist_file)
        self.persist_file = persist_file
        self.data |= {key: self._entry(key) for key in self.keys()}

    def update(self, change: dict):
        """Apply a change; KeyError if there is no such dataset, UsageError for an unknown action."""
        if change["path"] or change["action"] not in ("setitem", "delitem"):
            datasets.apply_change(self.data, change)
            self.changed(change["path"][0])
        elif change["action"] == "setitem":
            persist, value, metadata = _entry(change["value"])
            self.set(change["key"], value, persist, metadata)
        else:
            self.delete(change["key"])


class _ForeignDatabase:
    """Adapts a foreign database class with `get`, `delete` and `update` for changes. It shares no object
    with the run: what it has changes by the changes reported to it only."""

    def __init__(self, target):
        self.target = target

    @property
    def data(self):
        return {key: _entry(entry) for key, entry in self.target.data.items()}

    def get(self, key):
        return copy.deepcopy(self.target.get(key))

    def get_metadata(self, key):
        if hasattr(self.target, "get_metadata"):
            return self.target.get_metadata(key)
        return _entry(self.target.data[key]).metadata if hasattr(self.target, "data") else {}

    def changed(self, key):
        """Do nothing: changes in place have been reported (`report`)."""

    def report(self, operation, key, value, more):
        """Pass a change in place on (see `datasets.DatasetManager`)."""
        if operation == "append":
            self.target.update({"action": "append", "path": [key, 1], "x": copy.deepcopy(value)})
        elif operation == "assign":
            place = datasets.subscript(more)
            change = {"action": "setitem", "path": [key, 1], "key": place, "value": copy.deepcopy(value)}
            self.target.update(change)

    def set(self, key, value, persist=None, metadata=None):
        entry = (bool(persist), copy.deepcopy(value), metadata or {})
        self.target.update({"action": "setitem", "path": [], "key": key, "value": entry})

    def delete(self, key):
        self.target.delete(key)


def _entry(entry) -> datasets.Broadcast:
    """Convert an entry of a foreign database: (persist, value), with metadata in newer ones."""
    persist, value, *metadata = entry
    return datasets.Broadcast(persist, value, *(metadata or [{}]))


class DatasetManager(datasets.DatasetManager):
    """The datasets of a run on the database `ddb`, one of Kairos or any with `get`, `delete` and `update`,
    to which every change is reported: also of an element, or an appended one."""

    def __init__(self, ddb=None):
        if ddb is None or isinstance(ddb, datasets.DatasetDB):
            super().__init__(ddb)
            return
        foreign = _ForeignDatabase(ddb)
        super().__init__(foreign, self._report)

    def _report(self, operation, key, value=None, more=None):
        if key in self._written and self._written[key].broadcast:
            self.ddb.report(operation, key, value, more)
