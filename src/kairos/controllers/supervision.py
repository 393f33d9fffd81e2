"""Starts the controllers named in a device database, and keeps them running.

An entry of type ``controller`` with a ``command`` is started on this computer if its host is one of
this computer's addresses. A process that exits is restarted; one whose `ping` does not return is
stopped first. The output of the processes goes to the log, each line prefixed by the controller's
name.
"""

import asyncio
import contextlib
import ipaddress
import logging
import shlex
import signal
import socket
import time

from ..errors import UsageError
from .client import AsyncClient
from .wire import AutoTarget, ControllerError

__all__ = ["Supervisor", "is_local"]

logger = logging.getLogger(__name__)

RESTART = 5.0
"""Seconds between the exit of a process and its restart."""
PING = 30.0
"""Seconds between two calls of ``ping``, and timeout of a call."""
STARTING = 20.0
"""Seconds in which a process must start to accept connections."""
GRACE = 2.0
"""Seconds for a process to exit after ``terminate``, and then after SIGTERM."""


def is_local(host: str) -> bool:
    """Return whether a host is this computer."""
    try:
        addresses = {place[4][0] for place in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return any(
        ipaddress.ip_address(address.partition("%")[0]).is_loopback or _can_bind(address) for address in addresses
    )


def _can_bind(address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


class Controller:
    """A process described by an entry of the database."""

    def __init__(self, name: str, entry: dict, bind: str | None = None):
        self.name = name
        if "port" not in entry:
            raise UsageError(f"controller '{name}': 'port' is missing in its entry")
        self.host, self.port = entry["host"], entry["port"]
        self.target = entry.get("target_name") or AutoTarget
        self.encryption = entry.get("simple_ssl_config")
        try:
            # Any field of the entry may be used, as in `port_proxy` of ARTIQ's proxies.
            command = entry["command"].format(**entry | {"name": name, "bind": bind or self.host})
        except (KeyError, IndexError, ValueError) as error:
            raise UsageError(f"controller '{name}': its command uses {error}, which is missing in its entry") from None
        self.command = shlex.split(command)
        self.starts = 0
        self.running = asyncio.Event()

    async def keep(self, restart: float, ping: float):
        """Start the process repeatedly until cancelled."""
        while True:
            try:
                await self._live(ping)
            except FileNotFoundError:
                logger.error("%s: there is no program %s here; it is not started", self.name, self.command[0])
                return
            except OSError as error:
                logger.error("%s: cannot start %s: %s", self.name, shlex.join(self.command), error)
            self.running.clear()
            await asyncio.sleep(restart)

    async def _live(self, ping: float):
        """Run the process once, until it exits or hangs."""
        logger.info("%s: starting %s", self.name, shlex.join(self.command))
        process = await asyncio.create_subprocess_exec(
            *self.command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, start_new_session=True
        )
        self.starts += 1
        tasks = [asyncio.create_task(self._watch(ping)), asyncio.create_task(process.wait())]
        output = asyncio.create_task(self._log(process.stdout))
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if tasks[0] in done and tasks[1] not in done:
                logger.warning("%s: %s; it is started again", self.name, tasks[0].exception())
            else:
                logger.warning("%s: ended with exit code %d; it is started again", self.name, process.returncode)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._end(process)
            output.cancel()

    async def _log(self, output):
        while True:
            try:
                line = await output.readline()
            except ValueError:  # an overlong line
                continue
            if not line:
                return
            logger.info("%s: %s", self.name, line.decode(errors="replace").rstrip())

    async def _watch(self, ping: float):
        """Call ``ping`` periodically, if the controller has it; raises an exception if it does not
        return."""
        client = await self._reached()
        self.running.set()
        try:
            while True:
                await asyncio.sleep(ping)
                if "ping" in client._methods:
                    async with asyncio.timeout(ping):
                        await client.ping()
        except TimeoutError:
            raise ControllerError(f"ping did not return within {ping:g} s") from None
        finally:
            client.close_rpc()

    async def _reached(self) -> AsyncClient:
        deadline = time.monotonic() + STARTING
        while True:
            client = AsyncClient()
            try:
                await client.connect_rpc(self.host, self.port, self.target, self.encryption)
                return client
            except ControllerError:
                if time.monotonic() > deadline:
                    raise
            await asyncio.sleep(0.1)

    async def _end(self, process):
        """Stop a process: by a call of ``terminate``, then SIGTERM, then SIGKILL."""
        if process.returncode is not None:
            return
        if self.running.is_set():
            with contextlib.suppress(ControllerError, AttributeError, TimeoutError):
                async with asyncio.timeout(GRACE):
                    client = AsyncClient()
                    await client.connect_rpc(self.host, self.port, self.target, self.encryption)
                    await client.terminate()
                    await process.wait()
        for number in (signal.SIGTERM, signal.SIGKILL):
            if process.returncode is None:
                with contextlib.suppress(TimeoutError, ProcessLookupError):
                    process.send_signal(number)
                    async with asyncio.timeout(GRACE):
                        await process.wait()


class Supervisor:
    """The controllers of this computer among the entries of a device database.

    `entries`: by name; entries other than controllers with a command are skipped. `bind`: the
    address to listen on, if not the entry's host. `restart`, `ping`: seconds, see above.
    """

    def __init__(self, entries: dict, bind: str | None = None, restart: float = RESTART, ping: float = PING):
        self.controllers = [
            Controller(name, entry, bind)
            for name, entry in entries.items()
            if isinstance(entry, dict) and entry.get("type") == "controller" and "command" in entry
            if is_local(entry.get("host", ""))
        ]
        self._restart, self._ping = restart, ping

    async def run(self):
        """Keep all controllers running until cancelled, then stop them."""
        async with asyncio.TaskGroup() as group:
            for controller in self.controllers:
                group.create_task(controller.keep(self._restart, self._ping), name=controller.name)
