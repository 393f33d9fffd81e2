"""Structures that several programs follow, with the names of ``sipyco.sync_struct``.

A program changes a structure through a `Notifier`, which reports each change as a dictionary (see
`kairos.experiment.datasets.apply_change`); a `Publisher` sends them to clients, and a `Subscriber`
applies them to a copy.
"""

import asyncio
import enum
import inspect
import logging
from collections.abc import Callable, Iterable

from ..controllers.publishing import Publication
from ..controllers.publishing import Publisher as Server
from ..controllers.sockets import bound
from ..controllers.wire import FEATURE, LINE_LIMIT, keep_alive, read
from ..experiment.datasets import apply_change

__all__ = ["ModAction", "Notifier", "Publisher", "Subscriber", "process_mod"]

logger = logging.getLogger(__name__)


class ModAction(enum.Enum):
    """Kinds of changes."""

    insert = "insert"
    append = "append"
    pop = "pop"
    setitem = "setitem"
    delitem = "delitem"
    init = "init"


def process_mod(target, mod: dict):
    """Apply a change to `target`; returns the structure, for ``init`` a new one. KeyError or IndexError
    if there is no such place."""
    action = mod["action"]
    if action in ("init", ModAction.init):
        return mod["struct"]
    apply_change(target, mod | {"action": action.value if isinstance(action, ModAction) else action})
    return target


class Notifier:
    """A structure, or the part of one at `path`, whose changes are reported to `publish` of the whole: a
    function of one change, or None. `raw_view`: the plain structure, which must not be changed."""

    def __init__(self, backing_struct, root: "Notifier | None" = None, path: Iterable = ()):
        self.raw_view = backing_struct
        self.root = self if root is None else root
        self.publish: Callable[[dict], None] | None = None
        self._path = list(path)

    def _change(self, action: str, **operands):
        change = {"action": action, "path": self._path, **operands}
        apply_change(self.raw_view, change | {"path": []})
        if self.root.publish is not None:
            self.root.publish(change)

    def append(self, x):
        """Append to a list."""
        self._change("append", x=x)

    def insert(self, i, x):
        """Insert into a list before element `i`."""
        self._change("insert", i=i, x=x)

    def pop(self, i=-1):
        """Remove and return an element of a list."""
        element = self.raw_view[i]
        self._change("pop", i=i)
        return element

    def __setitem__(self, key, value):
        self._change("setitem", key=key, value=value)

    def __delitem__(self, key):
        self._change("delitem", key=key)

    def __getitem__(self, key) -> "Notifier":
        return Notifier(self.raw_view[key], self.root, [*self._path, key])


class Publisher:
    """Serves notifiers by name."""

    def __init__(self, notifiers: dict[str, Notifier]):
        self._publications: dict[str, Publication] = {}
        self._server = Server(self._publications)
        for name, notifier in notifiers.items():
            self.add_notifier(name, notifier)

    def add_notifier(self, name: str, notifier: Notifier):
        """Serve one more; ValueError if there is one of that name."""
        if name in self._publications:
            raise ValueError(f"a notifier named '{name}' is published already")
        publication = Publication(lambda: notifier.raw_view)
        self._publications[name] = publication
        before = notifier.publish

        def publish(change):
            if before is not None:
                before(change)
            publication.changed([change])

        notifier.publish = publish

    async def start(self, host, port):
        """Listen at `host` (an address, several, or None for all) and `port`."""
        addresses = ["*"] if host is None else [host] if isinstance(host, str) else host
        for connection in bound(addresses, port, "subscribers"):
            await self._server.serve_on(connection)

    async def stop(self):
        """Close all connections."""
        await self._server.stop()


class Subscriber:
    """Follows the notifier `notifier_name` of a server: `target_builder` makes the copy from the
    structure received first, and again whenever a new one comes; `notify_cb`, one or several, are called
    with each change once it is applied; `disconnect_cb` when the server is lost."""

    def __init__(self, notifier_name: str, target_builder: Callable, notify_cb=None, disconnect_cb=None):
        self.notifier_name, self.target_builder = notifier_name, target_builder
        self.notify_cbs = [] if notify_cb is None else notify_cb if isinstance(notify_cb, list) else [notify_cb]
        self.disconnect_cb = disconnect_cb
        self._task: asyncio.Task | None = None

    async def connect(self, host, port, before_receive_cb=None):
        """Connect, and call `before_receive_cb` before anything is received; OSError if nobody listens."""
        reader, self._writer = await asyncio.open_connection(host, port, limit=LINE_LIMIT)
        keep_alive(self._writer.get_extra_info("socket"))
        try:
            if before_receive_cb is not None:
                before_receive_cb()
            self._writer.write(Server.greeting + b"\n" + f"{self.notifier_name} {FEATURE}\n".encode())
            self._task = asyncio.create_task(self._receive(reader, f"{host}, port {port}"))
        except BaseException:
            self._writer.close()
            raise

    async def close(self):
        """Disconnect; `disconnect_cb` is not called."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
            self._writer.close()

    async def _receive(self, reader, peer: str):
        target = None
        try:
            while line := await reader.readline():
                change = read(line, peer)
                if change["action"] == "init":
                    target = self.target_builder(change["struct"])
                else:
                    target = process_mod(target, change)
                for callback in self.notify_cbs:
                    callback(change)
        except (OSError, ValueError) as error:
            logger.warning("the structure '%s' from %s was lost: %s", self.notifier_name, peer, error)
        finally:
            self._writer.close()
        if self.disconnect_cb is not None:
            result = self.disconnect_cb()
            if inspect.isawaitable(result):
                await result
