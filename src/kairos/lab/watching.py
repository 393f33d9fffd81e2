"""Looks whether devices answer: a connection is opened and closed, nothing is sent."""

import asyncio

from ..contracts.management import PORT as MANAGEMENT
from .events import Events

__all__ = ["Watching"]

PERIOD = 10.0
"""Seconds between two looks."""
TIMEOUT = 3.0
MISSES = 2
"""Looks in a row that must fail: one alone may be a restart."""


class Watching:
    """Watches devices of the device database that have an address, by name. `entries`: returns the
    device database."""

    def __init__(self, names: tuple[str, ...], entries, events: Events, period: float = PERIOD):
        self._names, self._entries, self._events, self._period = names, entries, events, period
        self._missed = dict.fromkeys(names, 0)
        self._task: asyncio.Task | None = None

    def start(self):
        """Watch from now on."""
        if self._names:
            self._task = asyncio.get_running_loop().create_task(self._keep())

    def close(self):
        """Stop watching."""
        if self._task is not None:
            self._task.cancel()

    async def _keep(self):
        while True:
            for name in self._names:
                address = _address(self._entries().get(name))
                if address is not None:
                    self._note(name, await _answers(*address))
            await asyncio.sleep(self._period)

    def _note(self, name: str, answers: bool):
        missed = self._missed[name]
        self._missed[name] = 0 if answers else missed + 1
        if answers and missed >= MISSES:
            self._events.emit("device_back", f"{name} answers again", subject=name)
        elif self._missed[name] == MISSES:
            self._events.emit("device_lost", f"{name} does not answer", subject=name)


def _address(entry) -> tuple[str, int] | None:
    """Return where a device listens: a core device at the port of its management service, a
    controller at its own; None if it has no address."""
    if not isinstance(entry, dict):
        return None
    is_local = entry.get("type") == "local"
    place = entry.get("arguments") or {} if is_local else entry
    host, port = place.get("host"), place.get("port")
    if not isinstance(host, str) or "://" in host:
        return None
    if is_local:
        # One with a port in its address is emulated, which the laboratory watches anyway.
        return None if host.rpartition(":")[2].isdecimal() and "." in host.rpartition(":")[0] else (host, MANAGEMENT)
    return (host, port) if isinstance(port, int) else None


async def _answers(host: str, port: int) -> bool:
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), TIMEOUT)
    except (OSError, TimeoutError, ValueError, OverflowError):  # the latter of what is no address
        return False
    writer.close()
    return True
