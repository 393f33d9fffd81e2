"""Databases with the names of ARTIQ's master modules, stored in files and with notification of dataset changes.

A change of datasets is a dictionary: ``action``, the ``path`` to the changed element, and the
action's operands (``setitem``: key and value; ``delitem``: key; ``append``: x; ``insert``: i, x;
``pop``: i).
"""

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
            persist, value, metadata = change["value"]
            self.set(change["key"], value, persist, metadata)
        else:
            self.delete(change["key"])


class _ForeignDatabase:
    """Adapts a foreign database class with `get`, `delete` and `update` for changes."""

    def __init__(self, target):
        self.target = target

    @property
    def data(self):
        return {key: datasets.Broadcast(*entry) for key, entry in self.target.data.items()}

    def get(self, key):
        return self.target.get(key)

    def get_metadata(self, key):
        return self.data[key].metadata

    def changed(self, key):
        """Do nothing: changes in place become visible to others when the dataset is set again."""

    def set(self, key, value, persist=None, metadata=None):
        entry = (bool(persist), value, metadata or {})
        self.target.update({"action": "setitem", "path": [], "key": key, "value": entry})

    def delete(self, key):
        self.target.delete(key)


class DatasetManager(datasets.DatasetManager):
    """The datasets of a run on the database `ddb`, one of Kairos or any with `get`, `delete` and
    `update`."""

    def __init__(self, ddb=None):
        super().__init__(_ForeignDatabase(ddb) if ddb is not None and not hasattr(ddb, "set") else ddb)
