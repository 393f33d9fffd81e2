"""Protocol shared by both sides of pc_rpc: greeting, lines of a call, serialised exceptions, encryption.

A session: the client greets, the server lists its targets and features; the client selects a
target, the server lists its methods; from then on each request is a line and is answered by a line.
"""

import builtins
import os
import ssl
import traceback

from .. import pyon
from ..errors import KairosError

__all__ = [
    "FEATURE",
    "GREETING",
    "LINE_LIMIT",
    "AutoTarget",
    "ControllerError",
    "Incompatible",
    "RemoteError",
    "choose",
    "client_encryption",
    "described",
    "read",
    "result",
    "server_encryption",
    "written",
]

GREETING = "ARTIQ pc_rpc"
FEATURE = "pyon_v2"
LINE_LIMIT = 100 << 20
"""Maximum bytes of a line."""


class ControllerError(KairosError):
    """A controller cannot be reached, or has closed the connection."""


class Incompatible(ControllerError):
    """The server is not a controller, or has no such target."""


class RemoteError(Exception):
    """A method of a controller raised an exception that is not built into Python. The text has its
    name and traceback."""


class AutoTarget:
    """Stands for the only target of a server, in place of its name."""


def written(value) -> bytes:
    """Encode a value as a line; TypeError if PYON cannot represent it."""
    return (value if isinstance(value, str) else pyon.encode(value)).encode() + b"\n"


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
    if FEATURE not in greeting.get("features", []):
        raise Incompatible(f"{peer} uses an old pc_rpc without {FEATURE}: update its sipyco")
    known = ", ".join(targets)
    if wanted is AutoTarget or wanted is None:
        if len(targets) > 1:
            raise Incompatible(f"{peer} has several targets, select one with target_name: {known}")
        return targets[0]
    if wanted not in targets:
        raise Incompatible(f"{peer} has no target {wanted!r}; it has {known}")
    return wanted


def described(error: BaseException) -> dict:
    """Encode an exception as the reply to the call that raised it."""
    kind = type(error)
    qualified = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    frames = traceback.format_tb(error.__traceback__)[1:]  # the first frame is the server's own
    return {
        "status": "failed",
        "exception": {"class": qualified, "message": str(error), "traceback": frames},
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
                raised = _made(kind, message)
            else:
                raised = RemoteError(f"{name}: {message}")
            raised.add_note(f"raised by {peer}:\n" + "".join(frames))
            raise raised
    raise Incompatible(f"{peer} does not speak pc_rpc: it replies {reply!r}")


def _made(kind: type[Exception], message: str) -> Exception:
    try:
        return kind(message)
    except TypeError:  # such as UnicodeDecodeError, which takes five values
        return RemoteError(f"{kind.__name__}: {message}")


def _encryption(purpose: ssl.Purpose, config: dict, own: str, peers: str) -> ssl.SSLContext:
    """TLS with mutual authentication; `config`: files, in which ``{ARTIQ_SSL_DIR}`` is replaced by
    that variable."""
    folder = os.environ.get("ARTIQ_SSL_DIR", "")
    certificate, key, trusted = (
        config[name].replace("{ARTIQ_SSL_DIR}", folder) for name in (f"{own}_cert", f"{own}_key", f"{peers}_cert")
    )
    context = ssl.create_default_context(purpose, cafile=trusted)
    context.check_hostname = False  # the certificate itself is trusted
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(certificate, key)
    return context


def client_encryption(config: dict | None) -> ssl.SSLContext | None:
    """Create a TLS context from ``simple_ssl_config`` of a device database: the files
    `client_cert`, `client_key` and `server_cert`, in whose names ``{ARTIQ_SSL_DIR}`` is replaced by
    that environment variable. None for None.
    """
    return None if config is None else _encryption(ssl.Purpose.SERVER_AUTH, config, "client", "server")


def server_encryption(config: dict | None) -> ssl.SSLContext | None:
    """Create the server's TLS context: the files `server_cert`, `server_key` and `client_cert`."""
    return None if config is None else _encryption(ssl.Purpose.CLIENT_AUTH, config, "server", "client")
