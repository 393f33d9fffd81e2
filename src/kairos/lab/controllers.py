"""The controllers of a laboratory: those of its device database that belong to this computer are kept running, and
clients of ARTIQ's controller manager find it at its port."""

import asyncio
import logging
import ssl
from collections.abc import Callable

from ..controllers import ManagerTarget, Server, Supervisor
from ..controllers.sockets import bound
from ..errors import UsageError

__all__ = ["Controllers"]

logger = logging.getLogger(__name__)


class Controllers:
    """Controllers that live with the laboratory. `printed(name, level, text)`: called with what they
    print. If another manager has the port, they are left to it."""

    def __init__(
        self, addresses: tuple[str, ...], port: int, printed: Callable, encryption: ssl.SSLContext | None = None
    ):
        self._encryption = encryption
        self._place = addresses, port
        self._supervisor = Supervisor({}, printed=printed, refused=lambda error: logger.error("%s", error))
        self._server = Server({"ctlmgr": ManagerTarget(self._supervisor)}, builtin_terminate=True)
        self._task: asyncio.Task | None = None
        self._ending: asyncio.Task | None = None

    async def start(self) -> int | None:
        """Listen; returns the port, None if another manager has it. `update` then starts controllers."""
        try:
            sockets = bound(*self._place, "controllers")
        except UsageError as error:
            logger.warning("controllers are left to the manager that runs already: %s", error)
            return None
        for connection in sockets:
            await self._server.serve_on(connection, self._encryption)
        self._task = asyncio.create_task(self._supervisor.run())
        self._ending = asyncio.create_task(self._end_when_asked())
        return sockets[0].getsockname()[1]

    async def update(self, entries: dict):
        """Go on with another device database."""
        if self._task is not None and not self._task.done():
            await self._supervisor.update(entries)

    async def _end_when_asked(self):
        await self._server.wait_terminate()
        logger.warning("a client has ended the controllers; 'kairos lab' starts them again")
        await self._end()

    async def _end(self):
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def stop(self):
        """Stop all controllers."""
        if self._ending is not None:
            self._ending.cancel()
            await asyncio.gather(self._ending, return_exceptions=True)
        await self._end()
        await self._server.stop()
