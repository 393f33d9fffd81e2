"""The databases as ARTIQ's modules for masters name them: over files, and with datasets that are told of as changes.

A change of datasets is a dictionary: ``action``, the ``path`` to what changes, and what the action takes
(``setitem``: key and value; ``delitem``: key; ``append``: x; ``insert``: i, x; ``pop``: i).
"""

from pathlib import Path

from .. import devices
from ..errors import UsageError
from ..experiment import datasets

__all__ = ["DatasetDB", "DatasetManager", "DeviceDB", "device_db_from_file"]


def device_db_from_file(filename) -> dict:
    """The dictionary ``device_db`` of a file."""
    return devices.DeviceDB.load(filename).entries


class DeviceDB(devices.DeviceDB):
    """The device database in the file `backing_file`; `scan` reads it again."""

    def __init__(self, backing_file):
        super().__init__(device_db_from_file(backing_file), str(backing_file))

    def scan(self):
        """Read the file again."""
        self.entries = device_db_from_file(self.path)

    def get_device_db(self) -> dict:
        return self.entries

    def get(self, name, resolve_alias=False):
        """The entry `name`; an alias is followed if that is asked for."""
        return super().get(name, resolve_alias)


_ACTIONS = {
    "setitem": lambda target, change: target.__setitem__(change["key"], change["value"]),
    "delitem": lambda target, change: target.__delitem__(change["key"]),
    "append": lambda target, change: target.append(change["x"]),
    "insert": lambda target, change: target.insert(change["i"], change["x"]),
    "pop": lambda target, change: target.pop(change["i"]),
}


class DatasetDB(datasets.DatasetDB):
    """Broadcast datasets in memory. They are not kept in a file: `persist_file` must not exist, and `save` refuses."""

    def __init__(self, persist_file=None, autosave_period=None):
        super().__init__()
        self.persist_file = persist_file
        if persist_file is not None and Path(persist_file).exists():
            raise UsageError(f"{persist_file}: Kairos cannot read kept datasets; give a name that does not exist")

    def update(self, change: dict):
        """Apply a change; KeyError if there is no such dataset, UsageError for an unknown action."""
        if change["action"] not in _ACTIONS:
            raise UsageError(f"'{change['action']}' is no change of a dataset; there are {', '.join(_ACTIONS)}")
        target = self.data
        for step in change["path"]:
            target = target[step]
        if target is self.data and change["action"] == "setitem":
            persist, value, metadata = change["value"]
            self.set(change["key"], value, persist, metadata)
        else:
            _ACTIONS[change["action"]](target, change)

    def save(self):
        """Refused: there is no file."""
        raise UsageError("Kairos keeps broadcast datasets in memory only; kairos run -o FILE writes those of a run")

    def close_db(self):
        """Forget all datasets."""
        self.data.clear()


class _Told:
    """A database of somebody else's class, which has `get`, `delete` and `update` with changes."""

    def __init__(self, target):
        self.target = target

    @property
    def data(self):
        return {key: datasets.Broadcast(*entry) for key, entry in self.target.data.items()}

    def get(self, key):
        return self.target.get(key)

    def get_metadata(self, key):
        return self.target.get_metadata(key)

    def set(self, key, value, persist=None, metadata=None):
        entry = (bool(persist), value, metadata or {})
        self.target.update({"action": "setitem", "path": [], "key": key, "value": entry})

    def delete(self, key):
        self.target.delete(key)


class DatasetManager(datasets.DatasetManager):
    """The datasets of a run over the database `ddb`, ours or any with `get`, `delete` and `update`."""

    def __init__(self, ddb=None):
        super().__init__(_Told(ddb) if ddb is not None and not hasattr(ddb, "set") else ddb)
