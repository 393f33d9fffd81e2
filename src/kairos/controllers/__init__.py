"""Network controllers: devices whose drivers run in separate processes, accessed by remote calls
over TCP; and the other protocols of lines that laboratories know.

The protocol is pc_rpc (`docs/experiments.md`, "Controllers"), which laboratories use for their
instrument drivers: lines of text, each a PYON value. A server has one or more targets, objects
whose public methods can be called. :mod:`.client` and :mod:`.server` are the two sides,
:mod:`.wire` is shared by both, and :mod:`.supervision` starts the processes named in a device
database. :mod:`.publishing` serves structures and messages to whoever follows them, :mod:`.logs`
receives records of logs, :mod:`.listening` serves connections, :mod:`.sockets`
opens the ports.
"""

from importlib import import_module

from .client import AsyncClient, BestEffortClient, Client
from .wire import AutoTarget, ControllerError, Incompatible, RemoteError

__all__ = [
    "MANAGER",
    "AsyncClient",
    "AutoTarget",
    "BestEffortClient",
    "Client",
    "ControllerError",
    "Incompatible",
    "ManagerTarget",
    "RemoteError",
    "Server",
    "Supervisor",
    "Times",
    "serve",
]

_LATE = {
    **dict.fromkeys(("Server", "serve"), ".server"),
    **dict.fromkeys(("MANAGER", "ManagerTarget", "Supervisor", "Times"), ".supervision"),
}
"""Names that are imported when they are used, with their modules: those import asyncio, which takes longer than
all else here, and which experiments do not need."""


def __getattr__(name):
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATE[name], __name__), name)
