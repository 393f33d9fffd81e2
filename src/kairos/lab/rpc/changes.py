"""Changes that wait for a client, in bounded memory: not the values, but which of them the client lacks."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

from ...controllers.publishing import Publication
from .protocol import message
from .values import dataset, value

__all__ = ["MissingChanges", "distinct", "moments"]

ASSIGNED = 4096
"""Elements of a dataset that are sent one by one; if more were replaced, it is sent whole."""


async def moments(publications: list[Publication], period: float, watch=lambda changes: None) -> AsyncIterator[None]:
    """Yield at once, and then after changes of the publications, `period` seconds apart at least.
    `watch`: called with each list of changes when it happens."""
    changed = asyncio.Event()

    def watcher(changes):
        watch(changes)
        changed.set()

    for publication in publications:
        publication.watchers.append(watcher)
    try:
        while True:
            last = time.monotonic()
            yield
            await changed.wait()
            await asyncio.sleep(last + period - time.monotonic())
            changed.clear()
    finally:
        for publication in publications:
            publication.watchers.remove(watcher)


def distinct(changes: list[dict]) -> Iterator[tuple[list, str, dict]]:
    """Yield path, dataset and change, of elements that are appended together only the first."""
    appended = None
    for change in changes:
        path = change["path"]
        if path is appended and change["action"] == "append":
            continue  # there may be thousands
        appended = path if change["action"] == "append" else None
        yield path, path[0] if path else change["key"], change


class MissingChanges:
    """What a client that follows datasets has not received yet. `values`: all datasets by key;
    `keys`: those that it wants whole, empty for all in short form; `writers`: the runs that have set datasets."""

    def __init__(self, values: dict, keys: frozenset[str], writers: dict[str, int]):
        self._values, self.keys, self._writers = values, keys, writers
        self._whole: dict[str, None] = {}
        """Datasets that must be sent whole, or were deleted."""
        self._grown: dict[str, None] = {}
        self._assigned: dict[str, dict[int, None]] = {}
        self._sent: dict[str, int] = {}
        """Number of elements that the client has of each dataset."""
        self._short: frozenset[str] = frozenset()
        """Datasets that are sent without their values."""

    def shorten(self, keys: frozenset[str]):
        """Send these datasets without their values from now on, and all others with them."""
        self._whole.update(dict.fromkeys(self._short ^ keys))
        self._short = keys

    def all(self) -> list:
        """Return everything as changes."""
        self._whole.clear(), self._grown.clear(), self._assigned.clear()
        keys = [key for key in self.keys if key in self._values] if self.keys else list(self._values)
        return [self._set(key) for key in keys]

    def note(self, changes: list[dict]):
        """Note changes as `Publication.changed` gets them."""
        for path, key, change in distinct(changes):
            if self.keys and key not in self.keys:
                continue
            if len(path) != 2 or path[1] != 1 or not self.keys:
                self._whole[key] = None
            elif key in self._short:
                pass
            elif change["action"] == "append":
                self._grown[key] = None
            else:
                self._note_assignment(key, change)

    def _note_assignment(self, key, change):
        index, known = change.get("key"), self._sent.get(key, 0)
        # An index from the end is one from an end that may have moved since.
        if change["action"] != "setitem" or not isinstance(index, int) or index < 0:
            self._whole[key] = None
            return
        if index < known:  # others are sent as appended
            assigned = self._assigned.setdefault(key, {})
            assigned[index] = None
            if len(assigned) > ASSIGNED:
                self._whole[key] = None

    def take(self) -> list:
        """Return the changes, which are then no longer missing."""
        found = []
        for key in self._whole:
            if key in self._values:
                found.append(self._set(key))
            else:
                self._sent.pop(key, None)
                found.append(message("DatasetChange", key=key, deleted=True))
        for key, indices in self._assigned.items():
            if key not in self._whole and key in self._values:
                given = self._values[key][1]
                elements = value([given[index] for index in indices])
                assignment = message("DatasetAssignment", indices=list(indices), elements=elements)
                found.append(message("DatasetChange", key=key, assign=assignment))
        for key in self._grown:
            if key not in self._whole and key in self._values:
                given = self._values[key][1]
                found.append(message("DatasetChange", key=key, append=value(given[self._sent.get(key, 0) :])))
                self._sent[key] = len(given)
        self._whole.clear(), self._grown.clear(), self._assigned.clear()
        return found

    def _set(self, key):
        entry = self._values[key]
        self._sent[key] = len(entry[1]) if hasattr(entry[1], "__len__") else 0
        whole = bool(self.keys) and key not in self._short
        return message("DatasetChange", key=key, set=dataset(entry, whole, self._writers.get(key)))
