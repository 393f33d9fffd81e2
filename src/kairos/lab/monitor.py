"""A core device as people watch it, through one connection each to its management service and to its
monitor and injector, however many people watch.

The connections exist while somebody watches. When the device is lost, by a reset or otherwise, both
are made again, and what was watched is watched again.
"""

import asyncio
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from math import isfinite

from ..compat.moninj import CommMonInj
from ..controllers.publishing import Publication
from ..errors import KairosError, UsageError
from ..network import management, moninj
from ..network.moninj import Override, Probe
from . import clock
from .channels import Row, rows

__all__ = ["Monitor"]

logger = logging.getLogger(__name__)

POLL = 1.0
"""Seconds between two questions about health, links and log."""
AGAIN = 0.5
"""Seconds between two attempts to connect."""
ANSWER = 10.0
"""Seconds in which a device answers."""
ATTEMPTS = 3
"""Attempts at an override whose connection is lost."""
_THREADS = ThreadPoolExecutor(64, "monitor")
"""Wait for devices. Those of the loop are few and have other work, also while all devices are off."""
WATCHES = 240
"""Probes and overrides that are watched at a time; a device reports at most 256 to a client. If more
are wanted, they take turns of `POLL`."""


class Monitor:
    """The core device `name`. `address(port)`: returns host and port of a service; `entries()`: the
    device database.

    `publication` changes with its state, `levels` with the values of rows: its changes have the name
    of the row as their key.
    """

    def __init__(self, name: str, address: Callable[[int], tuple[str, int]], entries: Callable[[], dict]):
        self.name, self._address, self._entries = name, address, entries
        self.connected, self.problem, self.gateware = False, "it has not been asked yet", ""
        self.since, self.losses, self.description = clock.now(), 0, 0
        self.subsystems: list[dict] = []
        self.links: list[dict] = []
        self.rows: dict[str, Row] = {}
        self.values: dict[str, dict] = {}
        """By row: `value`, `output`, `overridden`, as far as the device has reported them."""
        self.log: list[str] = []
        self.publication = Publication(lambda: self.name)
        self.levels = Publication(lambda: self.values)
        self.lines = Publication(lambda: self.log)
        self._followers = 0
        self._readers = 0
        """Followers of the log."""
        self._wanted: Counter[str] = Counter()
        self._watched: dict[tuple[bool, int, int], str] = {}
        """By (whether it is an override, channel, number): the row."""
        self._turn = 0
        self._injector: CommMonInj | None = None
        self._lost = asyncio.Event()
        self._connecting = asyncio.Lock()
        """Those who come while the last one leaves connect after its connections are closed."""
        self._confirmed: dict[int, tuple[int, asyncio.Future]] = {}
        """By channel: how an override is to be reported, and who waits for that."""
        self._overriding = asyncio.Lock()
        """Overrides are made one after the other: several people may override the same pin."""
        self._task: asyncio.Task | None = None

    # Those who follow

    @contextmanager
    def following(self, log: bool = False):
        """Keep the device connected."""
        self._followers += 1
        self._readers += log
        if self._followers == 1:
            self._task = asyncio.get_running_loop().create_task(self._keep())
        try:
            yield
        finally:
            self._followers -= 1
            self._readers -= log
            if not self._followers:
                self._task.cancel()
                self._cut()

    @contextmanager
    def watching(self, names: list[str]):
        """Have the device report these rows."""
        self._wanted.update(names)
        self._arrange()
        try:
            yield
        finally:
            self._wanted.subtract(names)
            self._wanted += Counter()
            self._arrange()

    async def override(self, name: str, level: bool | None):
        """Override a pin with a level, or release it; UsageError if that is not possible."""
        with self.following():
            await self.ready()
            row = self.rows.get(name)
            if row is None:
                raise UsageError(f"{self.name} has no channel '{name}'")
            if row.is_input:
                raise UsageError(f"{name} is measured by its card: there is nothing to override")
            if not row.is_pin:
                instead = f"; {row.switch} switches it" if row.switch in self.rows else ""
                by = "a run of its own" if row.settings else "an experiment"
                raise UsageError(f"{name} is no pin, and only pins can be overridden: {by} sets it{instead}")
            async with self._overriding:
                await self._override(row.channel, level, name)

    async def _override(self, channel: int, level: bool | None, name: str):
        for _ in range(ATTEMPTS):
            await self.ready()  # it may have been lost meanwhile
            if await self._confirms(self._injector, channel, level):
                return
            if not self._lost.is_set():
                break
        raise UsageError(f"{self.name} does not confirm it: is {name} overridden?")

    async def _confirms(self, injector: CommMonInj, channel: int, level: bool | None) -> bool:
        """Make an override; returns whether the device has confirmed it, False at once if it is lost."""
        confirmed = asyncio.get_running_loop().create_future()
        self._confirmed[channel] = int(level is not None), confirmed
        lost = asyncio.ensure_future(self._lost.wait())
        try:
            if level is not None:
                # The level first, so that the pin changes only once.
                injector.inject(channel, Override.LEVEL, int(level))
                injector.inject(channel, Override.OUTPUT_ENABLE, 1)
            injector.inject(channel, Override.ENABLE, int(level is not None))
            injector.get_injection_status(channel, Override.ENABLE)
            await asyncio.wait([confirmed, lost], timeout=ANSWER, return_when=asyncio.FIRST_COMPLETED)
            return confirmed.done()
        finally:
            lost.cancel()
            self._confirmed.pop(channel, None)

    async def ready(self):
        """Wait until the device is connected; UsageError if it does not answer in time."""
        deadline = time.monotonic() + ANSWER
        while self._injector is None:
            if time.monotonic() > deadline:
                raise UsageError(f"{self.name} does not answer: {self.problem}")
            await asyncio.sleep(0.02)

    # The connections

    async def _keep(self):
        async with self._connecting:
            try:
                while True:
                    try:
                        await self._serve()
                    except (KairosError, OSError, ValueError) as error:
                        if self.connected:
                            self.losses += 1
                            logger.warning("%s is lost: %s", self.name, error)
                        self._changed(False, str(error))
                    await asyncio.sleep(AGAIN)
            finally:
                self._changed(False, "no client watches it")

    async def _connected(self) -> management.Management:
        """Connect to the management service. If nobody waits for that any more, the connection is closed as soon as it
        is made: a device has few places."""
        host, port = self._address(management.PORT)
        left = threading.Event()

        def connect():
            device = management.Management(host, port, ANSWER, None, POLL)
            if left.is_set():
                device.close()
            return device

        try:
            return await _in_thread(connect)
        except asyncio.CancelledError:
            left.set()
            raise

    async def _serve(self):
        """Connect, and ask for what is not reported by itself, until the device is lost."""
        device = await self._connected()
        injector = CommMonInj(self._probed, self._injected, self._cut)
        try:
            self._lost.clear()
            try:
                gateware = await _in_thread(device.descriptor)
                self.gateware, described, problem = gateware.identity, gateware.channels, ""
            except management.ManagementError as error:
                self.gateware, described, problem = "", [], str(error)
            self.rows = await _in_thread(rows, described, self._entries(), self.name)
            self.description += 1
            await injector.connect(*self._address(moninj.PORT))
            self._injector = injector
            self._changed(True, problem)
            self._arrange()
            while not self._lost.is_set():
                if not problem:
                    await self._ask(device)
                if len(self._watches()) > WATCHES:
                    self._arrange()
                # Not `wait_for`, which may return instead of being cancelled if the device is lost at that moment.
                with suppress(TimeoutError):
                    async with asyncio.timeout(POLL):
                        await self._lost.wait()
            raise UsageError("the device has closed the connection to its monitor")
        finally:
            device.close()
            self._cut()
            self._discard_reports()
            await injector.close()

    def _cut(self):
        """The connection is lost or being closed: nobody uses it from now on, although the task that keeps it may take
        a while to notice."""
        self._injector = None
        self._lost.set()

    def _discard_reports(self):
        """What the device has reported holds no longer."""
        self._watched.clear()
        names, self.values = list(self.values), {}
        self.levels.changed({"action": "delitem", "path": [], "key": name} for name in names)

    def _changed(self, connected: bool, problem: str):
        if connected != self.connected:
            self.since = clock.now()
        if (connected, problem) != (self.connected, self.problem) or connected:
            self.connected, self.problem = connected, problem
            self.publication.changed([])

    async def _ask(self, device: management.Management):
        before = self.subsystems, self.links
        self.subsystems = await _in_thread(device.health)
        self.links = await _in_thread(device.links)
        if before != (self.subsystems, self.links):
            self.publication.changed([])
        if self._readers:
            lines = (await _in_thread(device.log)).splitlines()
            if lines != self.log:
                self.log = lines
                self.lines.changed([])

    # Reports

    def _watches(self) -> dict[tuple[bool, int, int], str]:
        """Return everything that is wanted, as `_watched`."""
        found = {}
        for name in self._wanted:
            row = self.rows.get(name)
            if row is not None:
                found |= {(False, row.channel, probe): name for probe in row.probes()}
                found |= {(True, row.channel, override): name for override in row.overrides()}
        return found

    def _arrange(self):
        """Have the device report what is wanted, in turns if that is too much for it."""
        if self._injector is None:
            return
        wanted = self._watches()
        if len(wanted) > WATCHES:
            keys = list(wanted)
            self._turn %= len(keys)
            chosen = (keys[self._turn :] + keys[: self._turn])[:WATCHES]
            self._turn += WATCHES
            wanted = {key: wanted[key] for key in chosen}
        for key in self._watched.keys() - wanted.keys():
            self._watch(key, False)
        for key in wanted.keys() - self._watched.keys():
            self._watch(key, True)
        self._watched = wanted

    def _watch(self, key, enable):
        is_override, channel, number = key
        start = self._injector.monitor_injection if is_override else self._injector.monitor_probe
        start(enable, channel, number)

    def _probed(self, channel, number, value):
        name = self._watched.get((False, channel, number))
        row = self.rows.get(name)
        if row is None:
            return
        if number == Probe.OUTPUT_ENABLE and row.is_pin:
            self._note(name, "output", bool(value))
        elif row.quantity is None:
            self._note(name, "value", float(value))
        else:
            quantity = float(row.quantity(value))
            if isfinite(quantity):
                self._note(name, "value", quantity)

    def _injected(self, channel, number, value):
        expected, confirmed = self._confirmed.get(channel, (None, None))
        if number == Override.ENABLE and value == expected and not confirmed.done():
            confirmed.set_result(None)
        name = self._watched.get((True, channel, number))
        if name is not None:
            self._note(name, "overridden", bool(value))

    def _note(self, name, what, value):
        known = self.values.setdefault(name, {})
        if known.get(what) != value:
            known[what] = value
            self.levels.changed([{"action": "setitem", "path": [], "key": name, "value": known}])


async def _in_thread(call, *arguments):
    return await asyncio.get_running_loop().run_in_executor(_THREADS, call, *arguments)
