"""Lines between a process and its child, with the names of ``sipyco.pipe_ipc``.

The child gets its ends of two pipes, whose descriptors are the address: ``read,write``.
"""

import asyncio
import os

__all__ = ["AsyncioChildComm", "AsyncioParentComm", "ChildComm"]

LINE_LIMIT = 100 << 20


class _Streams:
    """The ends of two pipes as asyncio streams."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def _open(self, read: int, write: int):
        loop = asyncio.get_running_loop()
        self.reader = asyncio.StreamReader(limit=LINE_LIMIT)
        protocol = asyncio.StreamReaderProtocol(self.reader)
        self._reads, _ = await loop.connect_read_pipe(lambda: protocol, os.fdopen(read, "rb", 0))
        transport, writes = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(write, "wb", 0))
        self.writer = asyncio.StreamWriter(transport, writes, None, loop)

    async def readline(self) -> bytes:
        """Return the next line; empty at the end."""
        return await self.reader.readline()

    async def read(self, n: int = -1) -> bytes:
        """Return up to `n` bytes, or all until the end."""
        return await self.reader.read(n)

    def write(self, data: bytes):
        """Send bytes."""
        self.writer.write(data)

    async def drain(self):
        """Wait until the other side keeps up."""
        await self.writer.drain()

    def close(self):
        """Close both pipes."""
        self._reads.close()
        self.writer.close()


class AsyncioParentComm(_Streams):
    """The parent's side: pass `get_address` to the child, then start it by `create_subprocess`."""

    def __init__(self):
        self._theirs_read, self._write = os.pipe()
        self._read, self._theirs_write = os.pipe()

    def get_address(self) -> str:
        """Return the address for the child."""
        return f"{self._theirs_read},{self._theirs_write}"

    async def create_subprocess(self, *args, **kwargs):
        """Start the child, with the arguments of `asyncio.create_subprocess_exec`."""
        theirs = (self._theirs_read, self._theirs_write)
        try:
            self.process = await asyncio.create_subprocess_exec(
                *args, **kwargs | {"pass_fds": (*kwargs.get("pass_fds", ()), *theirs)}
            )
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        await self._open(self._read, self._write)


class AsyncioChildComm(_Streams):
    """The child's side in an asyncio program."""

    def __init__(self, address: str):
        self.address = address

    async def connect(self):
        """Open the pipes."""
        await self._open(*map(int, self.address.split(",")))


class ChildComm:
    """The child's side; methods wait."""

    def __init__(self, address: str):
        read, write = map(int, address.split(","))
        self._reader, self._writer = os.fdopen(read, "rb"), os.fdopen(write, "wb", 0)

    def read(self, n: int = -1) -> bytes:
        """Return `n` bytes, or all until the end."""
        return self._reader.read(n)

    def readline(self) -> bytes:
        """Return the next line; empty at the end."""
        return self._reader.readline()

    def write(self, data: bytes):
        """Send bytes."""
        self._writer.write(data)

    def close(self):
        """Close both pipes."""
        self._reader.close()
        self._writer.close()
