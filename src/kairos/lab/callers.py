"""Who calls over the laboratory's own socket."""

import contextvars
import pwd
import socket
import struct

from ..controllers.server import Server

__all__ = ["LocalServer", "caller"]

_caller: contextvars.ContextVar[str | None] = contextvars.ContextVar("caller", default=None)


def caller() -> str | None:
    """Return the name of the user who calls."""
    return _caller.get()


class LocalServer(Server):
    """The server of the laboratory's own socket, which knows who calls."""

    async def _handle(self, reader, writer):
        connection = writer.get_extra_info("socket")
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        user = struct.unpack("3i", credentials)[1]
        try:
            _caller.set(pwd.getpwuid(user).pw_name)
        except KeyError:
            _caller.set(str(user))
        await super()._handle(reader, writer)
