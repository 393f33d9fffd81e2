"""Sources of an applet's datasets: a result file, the dataset store, or a server that publishes changes.

Every source is polled: `changes` returns what has changed since the last call, as (datasets,
changes), or None. The datasets are all that exist, by key, each (persist, value, metadata). A
change is a dictionary: ``action``, the ``path`` to the changed element, and the action's operands;
the first is ``init``.
"""

import queue
import socket
import threading
from pathlib import Path

from .. import pyon, resultfiles
from ..controllers import Client
from ..errors import KairosError, UsageError
from ..experiment.datasets import apply_change
from ..experiment.store import DatasetStore

__all__ = ["AppletError", "FileSource", "ServerSource", "StoreSource"]


class AppletError(KairosError):
    """A request of an applet cannot be fulfilled."""


class _Polled:
    """A source that is read as a whole whenever its version changes."""

    def __init__(self):
        self._seen = None
        self._known: dict = {}

    def _version(self):
        """Return a value that differs whenever the source does; None if it does not exist yet."""
        raise NotImplementedError

    def _read(self) -> dict:
        raise NotImplementedError

    def changes(self):
        """Return the datasets and their changes; None if there are none."""
        version = self._version()
        if version is None or version == self._seen:
            return None
        first, before, now = self._seen is None, self._known, self._read()
        self._seen, self._known = version, now
        if first:
            return now, [{"action": "init", "struct": now}]
        set_ = [
            {"action": "setitem", "path": [], "key": key, "value": entry}
            for key, entry in now.items()
            if key not in before or not _same(before[key], entry)
        ]
        gone = [{"action": "delitem", "path": [], "key": key} for key in before if key not in now]
        return (now, set_ + gone) if set_ or gone else None

    def close(self):
        """Close the source."""


LARGEST = 1 << 30
"""Maximum size of a dataset in bytes: a file of some kilobytes may announce any."""


def _same(before, now) -> bool:
    return pyon.encode(before) == pyon.encode(now)


class FileSource(_Polled):
    """The datasets in an HDF5 file of a run; those in its archive, unless the run has set one of
    the same name."""

    def __init__(self, path):
        super().__init__()
        self._path = Path(path)
        if not self._path.is_file():
            raise UsageError(f"there is no file {path}")

    def _version(self):
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return self._seen  # the file is being replaced
        return status.st_mtime_ns, status.st_ino

    def _read(self) -> dict:
        found: dict = {}
        with resultfiles.opened(self._path) as file:
            for group in ("archive", "datasets"):
                for name, item in resultfiles.datasets(resultfiles.group_of(file, group)):
                    if item.nbytes > LARGEST:
                        raise UsageError(f"{self._path}: the dataset {name} of {item.nbytes} bytes is too large")
                    value = resultfiles.value(item)
                    value = value.decode() if isinstance(value, bytes) else value
                    value = pyon.decode(value) if item.attrs.get("text") == "PYON" else value
                    found[name] = False, value, {key: item.attrs[key] for key in item.attrs if key != "text"}
        return found

    def set(self, key, value, persist=None, metadata=None):
        raise AppletError(f"the datasets of {self._path} are results: an applet cannot change them")

    def update(self, change):
        self.set(None, None)


class StoreSource(_Polled):
    """The persistent datasets in a dataset store."""

    def __init__(self, path):
        super().__init__()
        self._path = Path(path)
        self._store = DatasetStore(path)

    def _version(self):
        return self._store.version()

    def _read(self) -> dict:
        return self._store.kept()

    def set(self, key, value, persist=None, metadata=None):
        """Set a persistent dataset."""
        self._store.set(key, value, True, metadata)

    def update(self, change):
        """Apply a change to a dataset; KeyError if there is none."""
        key = change["path"][0]
        entry = [True, self._store.get(key), self._store.get_metadata(key)]
        apply_change({key: entry}, change)
        self.set(key, entry[1], metadata=entry[2])

    def close(self):
        self._store.close_db()


class ServerSource:
    """The datasets that a server publishes at `port`: ``kairos run --applets``, or ARTIQ's master.

    Changes are sent to `control`, a port of the server that accepts them; None if it has none.
    """

    def __init__(self, host: str, port: int, control: int | None = None):
        self._host, self._control = host, control
        self._datasets: dict = {}
        self._new: queue.Queue = queue.Queue()
        try:
            self._socket = socket.create_connection((host, port), timeout=10)
        except OSError as error:
            raise AppletError(
                f"no datasets at {host}, port {port} ({error}): give --file or --dataset-db, or start the server"
            ) from None
        self._socket.settimeout(None)
        self._socket.sendall(b"ARTIQ sync_struct\ndatasets\n")
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        try:
            with self._socket.makefile("rb") as lines:
                for line in lines:
                    self._new.put(pyon.decode(line.decode()))
        except (OSError, ValueError):
            pass  # the server has disconnected

    def changes(self):
        """The datasets and their changes, or None without changes. The last state remains after the server has
        disconnected."""
        new = []
        while not self._new.empty():
            new.append(self._new.get())
            self._apply(new[-1])
        return (self._datasets, new) if new else None

    def _apply(self, change):
        if change["action"] == "init":
            self._datasets = change["struct"]
        else:
            apply_change(self._datasets, change)

    def _asked(self, method, *args):
        if self._control is None:
            raise AppletError("this server does not accept dataset modifications")
        database = Client(self._host, self._control, "dataset_db")
        try:
            getattr(database, method)(*args)
        finally:
            database.close_rpc()

    def set(self, key, value, persist=None, metadata=None):
        """Set a dataset."""
        self._asked("set", key, value, persist, metadata)

    def update(self, change):
        """Apply a change to a dataset."""
        self._asked("update", change)

    def close(self):
        self._socket.close()
