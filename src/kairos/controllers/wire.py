"""Protocol shared by both sides of pc_rpc: greeting, lines of a call, serialised exceptions, encryption.

A session: the client greets, the server names its targets and features; the client chooses a
target, the server names its methods; then each request is a line and has a reply of a line.
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
"""Bytes of a line, at most."""


class ControllerError(KairosError):
    """A controller cannot be reached, or has closed the connection."""


class Incompatible(ControllerError):
    """What answers is no controller, or has no such target."""


class RemoteError(Exception):
    """A method of a controller raised what is no exception of Python's own. The text has its name and traceback."""


class AutoTarget:
    """In place of a target's name: the only one that there is."""


def written(value) -> bytes:
    """A line; TypeError if something in the value has no form in PYON."""
    return (value if isinstance(value, str) else pyon.encode(value)).encode() + b"\n"


def read(line: bytes, peer: str):
    """The value of a line; ControllerError if it is not whole or means nothing. `peer`: who sent it, for the text."""
    if not line.endswith(b"\n"):
        raise ControllerError(f"{peer} has closed the connection")
    try:
        return pyon.decode(line.decode())
    except ValueError:
        raise Incompatible(f"{peer} does not speak pc_rpc: it sent {line[:60]!r}") from None


def choose(greeting, wanted, peer: str) -> str:
    """The target's name, from what a server says of itself."""
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
    """An exception as the reply to the call that raised it."""
    kind = type(error)
    qualified = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    frames = traceback.format_tb(error.__traceback__)[1:]  # the first is the server's own
    return {
        "status": "failed",
        "exception": {"class": qualified, "message": str(error), "traceback": frames},
    }


def result(reply, peer: str):
    """What a call returned; raises what it raised: exceptions of Python's own as they are, others as RemoteError."""
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
    except TypeError:  # such as UnicodeDecodeError, which is made of five values
        return RemoteError(f"{kind.__name__}: {message}")


def _encryption(purpose: ssl.Purpose, config: dict, own: str, peers: str) -> ssl.SSLContext:
    """TLS in which both sides prove who they are; `config`: files, ``{ARTIQ_SSL_DIR}`` is that variable."""
    folder = os.environ.get("ARTIQ_SSL_DIR", "")
    certificate, key, trusted = (
        config[name].replace("{ARTIQ_SSL_DIR}", folder) for name in (f"{own}_cert", f"{own}_key", f"{peers}_cert")
    )
    context = ssl.create_default_context(purpose, cafile=trusted)
    context.check_hostname = False  # the certificate itself is what is trusted
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(certificate, key)
    return context


def client_encryption(config: dict | None) -> ssl.SSLContext | None:
    """From ``simple_ssl_config`` of a device database: the files `client_cert`, `client_key` and
    `server_cert`, in whose names ``{ARTIQ_SSL_DIR}`` is that variable of the environment. None for
    None."""
    return None if config is None else _encryption(ssl.Purpose.SERVER_AUTH, config, "client", "server")


def server_encryption(config: dict | None) -> ssl.SSLContext | None:
    """The other side: the files `server_cert`, `server_key` and `client_cert`."""
    return None if config is None else _encryption(ssl.Purpose.CLIENT_AUTH, config, "server", "client")
