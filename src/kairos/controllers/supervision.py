"""Starts the controllers named in a device database, and keeps them running.

An entry of type ``controller`` with a ``command`` is started on this computer if its host is one of
this computer's addresses. A process that exits is restarted; one whose `ping` does not return is
stopped first. The output of the processes goes to the log, each line prefixed by the controller's
name.
"""

import asyncio
import contextlib
import ctypes
import ipaddress
import logging
import os
import shlex
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace

from ..errors import UsageError
from .client import AsyncClient
from .logs import Records
from .wire import AutoTarget, ControllerError

__all__ = ["MANAGER", "ManagerTarget", "Supervisor", "Times", "is_local"]

logger = logging.getLogger(__name__)

MANAGER = 3249
"""TCP port of a controller manager."""
PROXIES = ("aqctl_corelog", "aqctl_moninj_proxy", "aqctl_coreanalyzer_proxy")
"""ARTIQ's programs between a core device and its clients. Databases name them, ours too, and most laboratories do
without: nothing is missing if they are not installed."""
RESTART = 5.0
"""Seconds between the exit of a process and its restart."""
BACKOFF = 1.1
"""Factor by which these seconds grow with each attempt that has failed."""
PING = 30.0
"""Seconds between two calls of ``ping``, and timeout of a call."""
STARTING = 20.0
"""Seconds in which a process must start to accept connections."""
TERMINATION = 30.0
"""Seconds for a process to exit after ``terminate``, and then after SIGTERM."""
GRACE = 2.0
"""Seconds for one that hangs to exit after SIGTERM."""
LAST_OUTPUT = 1.0
"""Seconds to wait for what a process that has ended printed last."""
OUTPUT_LIMIT = 1 << 16
"""Bytes of a line of output."""


@dataclass(frozen=True)
class Times:
    """How long to wait for a controller, in seconds; fields of its entry, under ARTIQ's names."""

    retry_timer: float = RESTART
    retry_timer_backoff: float = BACKOFF
    ping_timer: float = PING
    ping_timeout: float = PING
    term_timeout: float = TERMINATION

    def of_entry(self, name: str, entry: dict) -> "Times":
        """Return these times with those of an entry in their place; UsageError."""
        given = {each.name: entry[each.name] for each in fields(self) if each.name in entry}
        for key, value in given.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
                raise UsageError(f"controller '{name}': '{key}' must be a number of seconds, not {value!r}")
        return replace(self, **given)


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
    """A process described by an entry of the database. `times`: those that the entry does not give;
    `printed`: see `Supervisor`."""

    def __init__(
        self,
        name: str,
        entry: dict,
        bind: str | None = None,
        times: Times | None = None,
        printed: Callable | None = None,
    ):
        self.name, self.entry, self._printed = name, entry, printed or _logged
        if "port" not in entry:
            raise UsageError(f"controller '{name}': 'port' is missing in its entry")
        self.host, self.port = entry["host"], entry["port"]
        self.target = entry.get("target_name") or AutoTarget
        self.encryption = entry.get("simple_ssl_config")
        self.times = (times or Times()).of_entry(name, entry)
        self.environment = _environment(name, entry)
        known = {"ARTIQ_SSL_DIR": os.environ.get("ARTIQ_SSL_DIR", ""), **entry}
        try:
            # Any field of the entry may be used, as in `port_proxy` of ARTIQ's proxies.
            command = entry["command"].format(**known | {"name": name, "bind": bind or self.host})
            self.command = shlex.split(command)
        except (KeyError, IndexError) as error:
            raise UsageError(f"controller '{name}': its command uses {error}, which is missing in its entry") from None
        except (ValueError, AttributeError, TypeError) as error:
            raise UsageError(f"controller '{name}': its command cannot be used: {error}") from None
        self.starts = 0
        self._last_line = ""
        self.running = asyncio.Event()
        self._retry = asyncio.Event()

    def retry_now(self):
        """Start the process at once, if it waits for that; forget how often it has failed."""
        self._retry.set()

    async def keep(self):
        """Start the process repeatedly until cancelled."""
        delay = self.times.retry_timer
        while True:
            self._retry.clear()
            missing = False
            try:
                await self._live()
            except FileNotFoundError:
                level = logging.INFO if self.command[0] in PROXIES else logging.ERROR
                logger.log(level, "%s: there is no program %s here; it is not started", self.name, self.command[0])
                missing = True
            except Exception as error:
                logger.error("%s: cannot start %s: %s", self.name, shlex.join(self.command), error)
            delay = self.times.retry_timer if self.running.is_set() else delay
            self.running.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(None if missing else delay):
                    await self._retry.wait()
            delay = self.times.retry_timer if self._retry.is_set() else delay * self.times.retry_timer_backoff

    async def _live(self):
        """Run the process once, until it exits or hangs."""
        self._last_line = ""
        logger.info("%s: starting %s", self.name, shlex.join(self.command))
        process = await asyncio.create_subprocess_exec(
            *self.command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=self.environment,
            limit=OUTPUT_LIMIT,
            start_new_session=True,
            preexec_fn=end_with_parent,
        )
        self.starts += 1
        tasks = [asyncio.create_task(self._watch()), asyncio.create_task(process.wait())]
        output = asyncio.create_task(self._log(process.stdout))
        hangs = False
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            hangs = tasks[0] in done and tasks[1] not in done
            if hangs:
                logger.warning("%s: %s; it is started again", self.name, tasks[0].exception())
            else:
                await asyncio.wait([output], timeout=LAST_OUTPUT)
                end = _end_of(process.returncode, self._last_line)
                logger.warning("%s: %s; it is started again", self.name, end)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._end(process, hangs)
            output.cancel()

    async def _log(self, output):
        records = Records()
        while True:
            try:
                line = await output.readline()
            except ValueError:  # an overlong line
                continue
            found = records.add(line.decode(errors="replace").rstrip("\r\n")) if line else records.rest()
            for level, text in found:
                self._last_line = text.removeprefix("print:").rpartition("\n")[2]
                self._printed(self.name, level, text)
            if not line:
                return

    async def _watch(self):
        """Call ``ping`` periodically, if the controller has it; raises an exception if it does not
        return."""
        client = await self._reached()
        self.running.set()
        try:
            while True:
                await asyncio.sleep(self.times.ping_timer)
                if "ping" not in client._methods:
                    continue
                async with asyncio.timeout(self.times.ping_timeout):
                    if not await client.ping():
                        raise ControllerError("ping says that it does not work")
        except TimeoutError:
            raise ControllerError(f"ping did not return within {self.times.ping_timeout:g} s") from None
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

    async def _end(self, process, hangs: bool):
        """Stop a process: by a call of ``terminate``, unless it hangs, then SIGTERM, then SIGKILL."""
        if process.returncode is not None:
            return
        patience = GRACE if hangs else self.times.term_timeout
        if self.running.is_set() and not hangs:
            with contextlib.suppress(ControllerError, AttributeError, TimeoutError):
                async with asyncio.timeout(patience):
                    client = AsyncClient()
                    await client.connect_rpc(self.host, self.port, self.target, self.encryption)
                    await client.terminate()
                    await process.wait()
        for number in (signal.SIGTERM, signal.SIGKILL):
            if process.returncode is None:
                with contextlib.suppress(TimeoutError, ProcessLookupError):
                    process.send_signal(number)
                    async with asyncio.timeout(patience):
                        await process.wait()


def _end_of(code: int, last_line: str) -> str:
    """Return how a process ended, with its last line, which says why if it failed."""
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    why = f" ({last_line.strip()})" if code and last_line.strip() else ""
    return f"ended with exit code {code}{why}"


def _logged(name: str, level: int, text: str):
    logger.log(level, "%s: %s", name, text.removeprefix("print:"))


_LIBC = ctypes.CDLL(None, use_errno=True)
_PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of Linux."""


def end_with_parent():
    """Have the system end this process when its parent ends, even if that is killed: a controller that
    is left would keep its port, and could not print any more."""
    prctl = getattr(_LIBC, "prctl", None)
    if prctl is not None:
        prctl(_PARENT_DEATH_SIGNAL, signal.SIGTERM)


def _environment(name: str, entry: dict) -> dict[str, str]:
    """Return the environment of a controller's process, with what its entry adds."""
    added = entry.get("environment") or {}
    if not isinstance(added, dict):
        raise UsageError(f"controller '{name}': 'environment' must be a dictionary, not {added!r}")
    return {**os.environ, **{str(key): str(value) for key, value in added.items()}}


class Supervisor:
    """The controllers of this computer among the entries of a device database.

    `entries`: by name; entries other than controllers with a command are skipped. `bind`: the
    address to listen on, if not the entry's host. `times`: those that entries do not give.
    `printed(name, level, "logger:message")`: called with what they print, which by default is
    logged. `refused(error)`: called for an entry that cannot be used; without it UsageError is raised.
    """

    def __init__(
        self,
        entries: dict,
        bind: str | None = None,
        times: Times | None = None,
        printed: Callable | None = None,
        refused: Callable | None = None,
    ):
        self._bind, self._times = bind, times or Times()
        self._printed, self._refused = printed, refused
        self._controllers = self._of(entries)
        self._tasks: dict[str, asyncio.Task] = {}
        self._turn = asyncio.Lock()

    def _of(self, entries: dict) -> dict[str, Controller]:
        found = {}
        for name, entry in entries.items():
            if not (isinstance(entry, dict) and entry.get("type") == "controller" and "command" in entry):
                continue
            try:
                if is_local(entry.get("host", "")):
                    found[name] = Controller(name, entry, self._bind, self._times, self._printed)
            except UsageError as error:
                if self._refused is None:
                    raise
                self._refused(error)
        return found

    @property
    def controllers(self) -> list[Controller]:
        """The controllers of this computer."""
        return list(self._controllers.values())

    async def run(self):
        """Keep all controllers running until cancelled, then stop them."""
        try:
            await self._start()
            await asyncio.Event().wait()
        finally:
            await self._stop(list(self._tasks))

    async def update(self, entries: dict):
        """Go on with another device database: controllers whose entries have changed are started
        again. UsageError, and nothing is changed."""
        async with self._turn:  # from the beginning, so that the newest database is the last one
            new = await asyncio.to_thread(self._of, entries)
            old = self._controllers
            same = {name for name in new if name in old and new[name].entry == old[name].entry}
            self._controllers = {name: old[name] if name in same else each for name, each in new.items()}
            await self._stop([name for name in self._tasks if name not in same])
            await self._start()

    def retry_now(self, name: str):
        """Start a controller that has failed at once; KeyError for an unknown one."""
        if name not in self._controllers:
            raise KeyError(f"there is no controller '{name}' on this computer")
        self._controllers[name].retry_now()

    async def _start(self):
        for name, controller in self._controllers.items():
            if name not in self._tasks:
                self._tasks[name] = asyncio.create_task(controller.keep(), name=name)

    async def _stop(self, names: list[str]):
        tasks = [self._tasks.pop(name) for name in names]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class ManagerTarget:
    """What clients may call of a controller manager: ``ctlmgr`` on TCP port `MANAGER`."""

    def __init__(self, supervisor: Supervisor):
        self._supervisor = supervisor

    def retry_now(self, name):
        """Start a controller that has failed at once."""
        self._supervisor.retry_now(name)
