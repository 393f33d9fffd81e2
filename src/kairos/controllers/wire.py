"""Protocol shared by both sides of pc_rpc: greeting, lines of a call, serialised exceptions, encryption.

A session: the client greets, the server lists its targets and features; the client selects a
target, the server lists its methods; from then on each request is a line and is answered by a line.
"""

import builtins
import os
import socket
import traceback
from typing import TYPE_CHECKING

from .. import pyon
from ..errors import KairosError

if TYPE_CHECKING:
    import ssl  # imported late: see `_encryption`

__all__ = [
    "FEATURE",
    "GENERIC",
    "GREETING",
    "GREETING_MAX",
    "LINE_LIMIT",
    "AutoTarget",
    "ControllerError",
    "Incompatible",
    "Lines",
    "RemoteError",
    "TooLong",
    "choose",
    "client_encryption",
    "described",
    "keep_alive",
    "read",
    "result",
    "selected",
    "server_encryption",
    "version_of",
    "written",
]

GREETING = "ARTIQ pc_rpc"
FEATURE = "pyon_v2"
"""Feature of version 2 of PYON. Whoever does not name it speaks version 1."""
GENERIC = "GenericRemoteException"
"""Class under which exceptions are sent that are not built into Python."""
LINE_LIMIT = 256 << 20
"""Maximum bytes of a line: a request, or its answer. An array of 180 MB is about as long as text."""
GREETING_MAX = 4096
"""Maximum bytes of a line before a target is selected, when anybody may have connected."""
_BLOCK = 1 << 16
"""Bytes received at once."""


class ControllerError(KairosError):
    """A controller cannot be reached, or has closed the connection."""


class Incompatible(ControllerError):
    """The server is not a controller, or has no such target."""


class TooLong(Incompatible):
    """A line exceeds the limit."""

    def __init__(self, limit: int):
        shown = f"{limit >> 20} MiB" if limit >= 1 << 20 else f"{limit} bytes"
        super().__init__(f"more than {shown} cannot be sent at a time")


class RemoteError(Exception):
    """A method of a controller raised an exception that is not built into Python. The text has its
    name and traceback."""


class AutoTarget:
    """Stands for the only target of a server, in place of its name."""


def keep_alive(connection):
    """Have the system notice a peer that has vanished."""
    if connection.family != socket.AF_UNIX:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


class Lines:
    """The lines of an asyncio stream."""

    def __init__(self, reader):
        self._reader = reader
        self._kept = bytearray()

    async def next(self, limit: int) -> bytes:
        """Return the next line with its end; what is left at the end of the stream. TooLong if it exceeds
        `limit` bytes: not more is kept of it, and `skip` passes over the rest."""
        searched = 0
        while (end := self._kept.find(b"\n", searched)) < 0:
            searched = len(self._kept)
            if searched > limit:
                raise TooLong(limit)
            block = await self._reader.read(_BLOCK)
            if not block:
                end = searched - 1
                break
            self._kept += block
        if end > limit:
            raise TooLong(limit)
        line = bytes(self._kept[: end + 1])
        del self._kept[: end + 1]
        return line

    async def skip(self) -> bool:
        """Pass over a line, however long it is; returns whether it has ended before the stream has."""
        while (end := self._kept.find(b"\n")) < 0:
            self._kept[:] = await self._reader.read(_BLOCK)
            if not self._kept:
                return False
        del self._kept[: end + 1]
        return True


def written(value, version: int = 2) -> bytes:
    """Encode a value as a line; TypeError if PYON cannot represent it. Text is sent as it is."""
    return (value if isinstance(value, str) else pyon.encode(value, version)).encode() + b"\n"


def read(line: bytes, peer: str):
    """Decode a line; ControllerError if it is incomplete or invalid. `peer`: its sender, for the
    message."""
    if not line.endswith(b"\n"):
        raise ControllerError(f"{peer} has closed the connection")
    try:
        return pyon.decode(line.decode())
    except ValueError:
        raise Incompatible(f"{peer} does not speak pc_rpc: it sent {line[:60]!r}") from None


def choose(greeting, wanted, peer: str) -> str:
    """Select a target's name from a server's greeting."""
    targets = greeting.get("targets") if isinstance(greeting, dict) else None
    if not isinstance(targets, list) or not targets:
        raise Incompatible(f"{peer} does not speak pc_rpc: it greets with {greeting!r}")
    known = ", ".join(targets)
    if wanted is AutoTarget or wanted is None:
        if len(targets) > 1:
            raise Incompatible(f"{peer} has several targets, select one with target_name: {known}")
        return targets[0]
    if wanted not in targets:
        raise Incompatible(f"{peer} has no target {wanted!r}; it has {known}")
    return wanted


def version_of(greeting: dict) -> int:
    """Return the version of PYON that a server speaks, from its greeting."""
    return 2 if FEATURE in (greeting.get("features") or ()) else 1


def selected(greeting: dict, target: str) -> str:
    """Return the line that selects a target, with the version that the server speaks."""
    return f"{target} {FEATURE}" if version_of(greeting) == 2 else target


def described(error: BaseException) -> dict:
    """Encode an exception as the reply to the call that raised it. Its class is built into Python;
    others are sent as `GENERIC`, and named in the message."""
    kind = type(error)
    frames = traceback.format_tb(error.__traceback__)[1:]  # the first frame is the server's own
    if kind.__module__ == "builtins":
        name, message = kind.__name__, str(error)
    else:
        name, message = GENERIC, "".join(traceback.format_exception_only(error)).strip()
    return {
        "status": "failed",
        "exception": {"class": name, "message": message, "traceback": frames},
    }


def result(reply, peer: str):
    """Return the result of a call, or raise its exception: built-in exceptions as such, others as
    RemoteError."""
    match reply:
        case {"status": "ok", "ret": value}:
            return value
        case {"status": "failed", "exception": {"class": name, "message": message} as exception}:
            kind = getattr(builtins, name, None)
            frames = exception.get("traceback") or []
            if isinstance(kind, type) and issubclass(kind, Exception):
                raised = _create_exception(kind, message)
            elif name == GENERIC:
                raised = RemoteError(message)
            else:
                raised = RemoteError(f"{name}: {message}")
            raised.add_note(f"raised by {peer}:\n" + "".join(frames))
            raise raised
    raise Incompatible(f"{peer} does not speak pc_rpc: it replies {reply!r}")


def _create_exception(kind: type[Exception], message: str) -> Exception:
    try:
        return kind(message)
    except TypeError:  # such as UnicodeDecodeError, which takes five values
        return RemoteError(f"{kind.__name__}: {message}")


def _encryption(for_client: bool, config: dict, own: str, peers: str) -> "ssl.SSLContext":
    """TLS with mutual authentication; `config`: files, in which ``{ARTIQ_SSL_DIR}`` is replaced by
    that variable."""
    folder = os.environ.get("ARTIQ_SSL_DIR", "")
    certificate, key, trusted = (
        config[name].replace("{ARTIQ_SSL_DIR}", folder) for name in (f"{own}_cert", f"{own}_key", f"{peers}_cert")
    )
    import ssl  # imported late: few controllers are encrypted

    purpose = ssl.Purpose.SERVER_AUTH if for_client else ssl.Purpose.CLIENT_AUTH
    context = ssl.create_default_context(purpose, cafile=trusted)
    context.check_hostname = False  # the certificate itself is trusted
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(certificate, key)
    return context


def client_encryption(config: dict | None) -> "ssl.SSLContext | None":
    """Create a TLS context from ``simple_ssl_config`` of a device database: the files
    `client_cert`, `client_key` and `server_cert`, in whose names ``{ARTIQ_SSL_DIR}`` is replaced by
    that environment variable. None for None.
    """
    return None if config is None else _encryption(True, config, "client", "server")


def server_encryption(config: dict | None) -> "ssl.SSLContext | None":
    """Create the server's TLS context: the files `server_cert`, `server_key` and `client_cert`."""
    return None if config is None else _encryption(False, config, "server", "client")
