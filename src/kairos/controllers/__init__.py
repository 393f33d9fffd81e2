"""Network controllers: devices whose drivers run in separate processes, accessed by remote calls
over TCP; and the other protocols of lines that laboratories know.

The protocol is pc_rpc (`docs/experiments.md`, "Controllers"), which laboratories use for their
instrument drivers: lines of text, each a PYON value. A server has one or more targets, objects
whose public methods can be called. :mod:`.client` and :mod:`.server` are the two sides,
:mod:`.wire` is shared by both, and :mod:`.supervision` starts the processes named in a device
database. :mod:`.publishing` serves structures and messages to whoever follows them, :mod:`.logs`
receives records of logs, :mod:`.listening` opens the ports.
"""

from .client import AsyncClient, BestEffortClient, Client
from .server import Server, serve
from .supervision import MANAGER, ManagerTarget, Supervisor, Times
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
