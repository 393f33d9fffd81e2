"""Datasets: named results of an experiment, kept locally, archived, and broadcast to whoever listens.

A dataset is local to the run that sets it unless it is broadcast; a broadcast one lives in a `DatasetDB`, in which
other experiments of the same process find it. Values read from there are noted in the archive of the run, so that
an output file holds everything that a result depended on.
"""

import logging

from .arguments import NoDefault

__all__ = ["DatasetDB", "DatasetManager", "write_hdf5"]

logger = logging.getLogger(__name__)


class DatasetDB:
    """Broadcast datasets in memory: key to (persist, value, metadata)."""

    def __init__(self):
        self.data: dict[str, tuple] = {}

    def get(self, key):
        return self.data[key][1]

    def get_metadata(self, key):
        return self.data[key][2]

    def set(self, key, value, persist=None, metadata=None):
        if persist is None:
            persist = self.data[key][0] if key in self.data else False
        self.data[key] = (persist, value, metadata or {})

    def delete(self, key):
        del self.data[key]


def _index(index):
    """Subscript of the forms that the API allows: an int, a tuple of slice arguments, or a tuple of such tuples."""
    if isinstance(index, tuple):
        if index and all(isinstance(part, tuple) for part in index):
            return tuple(slice(*part) for part in index)
        return slice(*index)
    return index


class DatasetManager:
    """Datasets of one run over the shared `ddb`."""

    def __init__(self, ddb: DatasetDB | None = None):
        self.ddb = DatasetDB() if ddb is None else ddb
        self.local: dict = {}
        self.broadcast: set = set()
        self.archive: dict = {}
        self.metadata: dict[str, dict] = {}

    def set(self, key, value, metadata, broadcast=False, persist=False, archive=True):
        broadcast = broadcast or persist
        if not broadcast and not archive:
            logger.warning("Dataset '%s' will not be stored: it is neither broadcast nor archived", key)
        if broadcast:
            self.ddb.set(key, value, persist, metadata)
            self.broadcast.add(key)
        elif key in self.broadcast:
            self.broadcast.discard(key)
            self.ddb.delete(key)
        if archive:
            self.local[key] = value
        else:
            self.local.pop(key, None)
        self.metadata[key] = metadata

    def _targets(self, key):
        if key in self.local:
            return self.local[key]
        if key in self.broadcast:
            return self.ddb.get(key)
        raise KeyError(f"Cannot mutate nonexistent dataset '{key}'")

    def mutate(self, key, index, value):
        # Local and broadcast copies are the same object.
        self._targets(key)[_index(index)] = value

    def append_to(self, key, value):
        self._targets(key).append(value)

    def get(self, key, archive=True):
        if key in self.local:
            return self.local[key]
        value = self.ddb.get(key)
        if archive:
            if key in self.archive:
                logger.warning("Dataset '%s' is already in archive, overwriting", key)
            self.archive[key] = value
            self.metadata.setdefault(key, self.ddb.get_metadata(key))
        return value

    def get_metadata(self, key):
        if key in self.local or key in self.broadcast:
            return self.metadata[key]
        return self.ddb.get_metadata(key)


def metadata(unit=None, scale=None, precision=None) -> dict:
    """The metadata that was given, and nothing that was not."""
    given = {"unit": unit, "scale": scale, "precision": precision}
    return {name: value for name, value in given.items() if value is not None}


def write_hdf5(path, manager: DatasetManager):
    """Write the groups ``datasets`` and ``archive`` of a run to a new HDF5 file.

    Slashes in a key make subgroups; metadata become attributes. TypeError names a dataset without an HDF5 form.
    """
    import h5py

    with h5py.File(path, "w") as file:
        for name, values in (("datasets", manager.local), ("archive", manager.archive)):
            group = file.create_group(name)
            for key, value in values.items():
                try:
                    dataset = group.create_dataset(key, data=value)
                except (TypeError, ValueError) as error:
                    raise TypeError(f"dataset '{key}' cannot be written to HDF5: {error}") from None
                for attribute, content in manager.metadata.get(key, {}).items():
                    dataset.attrs[attribute] = content


def lookup(getter, key, default):
    """`getter(key)`, or `default` if there is one and the key is unknown."""
    try:
        return getter(key)
    except KeyError:
        if default is NoDefault:
            raise KeyError(f"Dataset '{key}' not found") from None
        return default
