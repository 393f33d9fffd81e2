"""Servers that send: structures and their changes (sync_struct), messages by channel (broadcast).

A client sends a greeting and a name, and only receives from then on. Nobody is waited for. A client
that is slower than the changes costs a bounded amount of memory: what it misses is dropped, and
when it has caught up it gets the newest state again, as a new ``init``. Of a channel it misses
messages.

Changes are numbered. A client that names the feature `NUMBERS` gets the ``number`` of each, and with an ``init`` that
of the last change in it and the ``start`` with which the numbers have begun.
"""

import asyncio
import logging
import secrets
import socket
import ssl
from collections.abc import Callable, Iterable
from math import isfinite

from .. import pyon
from ..errors import KairosError
from .wire import FEATURE, keep_alive, written

__all__ = ["NUMBERS", "Broadcaster", "Publication", "Publisher"]

logger = logging.getLogger(__name__)

NUMBERS = "numbers"
"""Feature of clients that want the numbers of changes."""
WAITING = 1 << 20
"""Bytes that may wait for a client, besides those in the operating system's buffers."""
MESSAGES = 1024
"""Messages of a channel that may wait for a client."""
GREETING_LIMIT = 1024
"""Bytes of a greeting."""


class Publication:
    """A structure that clients follow. Whoever changes `struct()` reports it with `changed`.

    `struct`: returns the structure. A change is a dictionary: ``action``, ``path``, and the
    operands (see `kairos.experiment.datasets.apply_change`).
    """

    def __init__(self, struct: Callable[[], object]):
        self.struct = struct
        self.number = 0
        """Number of changes so far."""
        self.start = secrets.token_hex(8)
        """Another text for each structure whose changes are counted from 0, as after each start of a laboratory."""
        self.watchers: list[Callable[[list[dict]], None]] = []
        """Called with the changes."""
        self._sessions: set[_Session] = set()

    def changed(self, changes: Iterable[dict]):
        """Send changes, in order, to all clients."""
        changes = list(changes)
        self.number += len(changes)
        for watcher in self.watchers:
            try:
                watcher(changes)
            except KairosError as error:  # one of them must not cost the others, or the clients, the change
                logger.error("a change cannot be passed on: %s", error)
            except Exception:
                logger.exception("a change cannot be passed on")
        lines: dict[tuple[int, bool], bytes] = {}
        for session in self._sessions:
            if session.paused:
                session.missed = True
                continue
            form = session.version, session.numbered
            if form not in lines:
                lines[form] = self._numbered(changes, form[0]) if session.numbered else _encoded(changes, form[0])
            session.transport.write(lines[form])

    def _numbered(self, changes: list[dict], version: int) -> bytes:
        """Encode the newest changes with their numbers."""
        first = self.number - len(changes) + 1
        return b"".join(written({**change, "number": first + at}, version) for at, change in enumerate(changes))

    def join(self, session: "_Session"):
        """Send the structure to a client, and from now on changes."""
        self._sessions.add(session)
        self.renew(session)

    def renew(self, session: "_Session"):
        """Send the newest state to a client that has missed changes."""
        session.missed = False
        numbers = {"number": self.number, "start": self.start} if session.numbered else {}
        session.transport.write(written({"action": "init", "struct": self.struct(), **numbers}, session.version))

    def leave(self, session: "_Session"):
        """Forget a client."""
        self._sessions.discard(session)


def _encoded(changes: list[dict], version: int) -> bytes:
    """Encode changes. Those that append numbers are as many as all others together, so the text
    around the number is kept from one to the next."""
    lines, path, head = [], None, ""
    for change in changes:
        value = change["x"] if change["action"] == "append" else None
        if not (type(value) is float and isfinite(value) or type(value) is int):
            lines.append(f"{pyon.encode(change, version)}\n")
            continue
        if change["path"] is not path:
            path = change["path"]
            head = pyon.encode({"action": "append", "path": path}, version)[:-1]
        lines.append(f'{head}, "x": {value!r}}}\n')
    return "".join(lines).encode()


class _Channel:
    """The clients of a channel of messages."""

    def __init__(self):
        self.sessions: set[_Session] = set()

    def join(self, session: "_Session"):
        self.sessions.add(session)

    def leave(self, session: "_Session"):
        self.sessions.discard(session)

    def renew(self, session: "_Session"):
        """Send what has waited for a client."""
        waiting, session.waiting = session.waiting, []
        for line in waiting:
            session.send(line)


class _Session(asyncio.Protocol):
    """A client: its greeting, and whether it keeps up."""

    def __init__(self, server: "_Sender"):
        self._server = server
        self._received = b""
        self._followed = None
        self.version = server.version
        self.numbered = False
        self.paused = False
        self.missed = False
        self.waiting: list[bytes] = []

    def connection_made(self, transport):
        self.transport = transport
        transport.set_write_buffer_limits(WAITING)
        keep_alive(transport.get_extra_info("socket"))
        self._server.sessions.add(self)

    def data_received(self, data: bytes):
        if self._followed is not None:
            return  # it has nothing to say
        self._received += data
        lines = self._received.split(b"\n")
        if len(lines) < 3 and len(self._received) < GREETING_LIMIT:
            return
        words = lines[1].split() if len(lines) > 2 else []
        self._followed = self._server.followed(lines[0].strip(), words)
        if FEATURE.encode() in words[1:]:
            self.version = 2  # as it asks for
        self.numbered = NUMBERS.encode() in words[1:]
        if self._followed is None:
            self.transport.close()  # without a word, which clients take for an error
        else:
            self._followed.join(self)

    def send(self, line: bytes):
        """Send a line, or have it wait."""
        if not self.paused:
            self.transport.write(line)
        elif len(self.waiting) < MESSAGES:
            self.waiting.append(line)

    def pause_writing(self):
        self.paused = True

    def resume_writing(self):
        self.paused = False
        if self.missed or self.waiting:
            self._followed.renew(self)

    def connection_lost(self, error):
        self._server.sessions.discard(self)
        if self._followed is not None:
            self._followed.leave(self)


class _Sender:
    """A server whose clients only receive."""

    greeting: bytes
    features = (FEATURE,)

    def __init__(self, version: int = 2):
        self.version = version
        """Version of PYON for clients that do not name one."""
        self.sessions: set[_Session] = set()
        self._servers: list[asyncio.Server] = []

    def followed(self, greeting: bytes, words: list[bytes]):
        """Return what a client wants to follow, or None for a greeting that is wrong."""
        unknown = set(words[1:]) - {feature.encode() for feature in self.features}
        if greeting != self.greeting or not words or unknown:
            return None
        return self._named(words[0].decode(errors="replace"))

    def _named(self, name: str):
        raise NotImplementedError

    async def serve_on(self, connection, encryption: ssl.SSLContext | None = None):
        """Listen on a socket that is bound, of any family; may be called several times."""
        loop = asyncio.get_running_loop()
        create = loop.create_unix_server if connection.family == socket.AF_UNIX else loop.create_server
        self._servers.append(await create(lambda: _Session(self), sock=connection, ssl=encryption))

    async def stop(self):
        """Close all connections and stop listening."""
        for server in self._servers:
            server.close()
        for session in list(self.sessions):
            session.transport.abort()
        for server in self._servers:
            await server.wait_closed()


class Publisher(_Sender):
    """Serves structures by name (sync_struct)."""

    greeting = b"ARTIQ sync_struct"
    features = (FEATURE, NUMBERS)

    def __init__(self, publications: dict[str, Publication], version: int = 2):
        super().__init__(version)
        self._publications = publications

    def _named(self, name):
        return self._publications.get(name)


class Broadcaster(_Sender):
    """Serves channels of messages: any name may be followed."""

    greeting = b"ARTIQ broadcast"

    def __init__(self, version: int = 2):
        super().__init__(version)
        self._channels: dict[str, _Channel] = {}
        self.watchers: list[Callable[[str, object], None]] = []
        """Called with the channel and each message."""

    def _named(self, name):
        return self._channels.setdefault(name, _Channel())

    def broadcast(self, name: str, message):
        """Send a message to the clients of a channel that keep up."""
        for watcher in self.watchers:
            watcher(name, message)
        channel = self._channels.get(name)
        if channel is None or not channel.sessions:
            return
        lines = {version: written(message, version) for version in {session.version for session in channel.sessions}}
        for session in channel.sessions:
            session.send(lines[session.version])
