"""Servers that handle each connection in a task of its own."""

import asyncio
import socket
import ssl
from abc import ABC, abstractmethod

__all__ = ["LINE_LIMIT", "StreamServer"]

LINE_LIMIT = 4 << 20
"""Bytes of a line, for servers that read line by line."""


class StreamServer(ABC):
    """Handles each connection in a task of its own, which `stop` cancels."""

    buffered = 1 << 16
    """Limit of a connection's `asyncio.StreamReader` in bytes: no longer line can be read by its `readline`."""

    def __init__(self):
        self._servers: list[asyncio.Server] = []
        self._connections: set[asyncio.Task] = set()

    async def listen(self, host, port, **more) -> asyncio.Server:
        """Listen on `host` (an address, several, or None for all) and `port`, which the system chooses for 0;
        `more`: as of `asyncio.start_server`."""
        self._servers.append(await asyncio.start_server(self._accepted, host, port, limit=self.buffered, **more))
        return self._servers[-1]

    async def serve_on(self, connection: socket.socket, encryption: ssl.SSLContext | None = None):
        """Listen on a socket that is bound, of any family; may be called several times."""
        start = asyncio.start_unix_server if connection.family == socket.AF_UNIX else asyncio.start_server
        server = await start(self._accepted, sock=connection, limit=self.buffered, ssl=encryption)
        self._servers.append(server)

    async def stop(self):
        """Close all connections and stop listening."""
        for server in self._servers:
            server.close()
        connections = list(self._connections)
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        for server in self._servers:
            await server.wait_closed()

    async def _accepted(self, reader, writer):
        connection = asyncio.current_task()
        self._connections.add(connection)
        try:
            await self._handle(reader, writer)
        finally:
            self._connections.discard(connection)
            writer.close()

    @abstractmethod
    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        """Handle a connection until it ends."""
