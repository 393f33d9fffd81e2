"""The device database: a Python file that defines the dictionary ``device_db``.

An entry is a description (``{"type": "local", "module": ..., "class": ..., "arguments": {...}}``,
or a ``controller`` with ``host`` and ``port``), or the name of another entry (an alias).
"""

import os
import runpy
import traceback
from collections.abc import Iterator
from pathlib import Path

from ..errors import UsageError
from .cores import devices_on

__all__ = ["DeviceDB", "rtio_channel"]

NUMBERED = ("bus_channel", "cpld_device", "host_mirny")
"""Driver arguments whose presence means that ``channel`` is the number of a chip on a bus or a
card."""


class DeviceDB:
    """The entries of a device database file."""

    def __init__(self, entries: dict, path: str = "device database"):
        self.entries = entries
        self.path = path

    @classmethod
    def load(cls, path) -> "DeviceDB":
        """Execute the file `path`; UsageError if it is missing, broken, or does not define
        ``device_db``."""
        if not Path(path).is_file():
            raise UsageError(f"there is no device database {path}: give its path with --device-db FILE")
        try:
            # By its whole path, so that it finds what is beside it, and above, from `__file__`.
            names = runpy.run_path(whole := os.path.abspath(path))
        except SyntaxError as error:
            place = f"{path if error.filename in (None, whole) else error.filename}:{error.lineno or 1}"
            raise UsageError(f"{place}: {error.msg} (in the device database)") from None
        except (Exception, SystemExit) as error:
            frames = traceback.extract_tb(error.__traceback__)
            line = next((f.lineno for f in reversed(frames) if f.filename == whole), "?")
            raise UsageError(f"{path}:{line}: {type(error).__name__}: {error} (in the device database)") from None
        entries = names.get("device_db")
        if not isinstance(entries, dict):
            raise UsageError(f"{path} does not define a dictionary named device_db")
        return cls(entries, str(path))

    def get(self, name: str, resolve_alias=True):
        """Return the description of the device `name`; KeyError if it is unknown, ValueError for
        circular aliases."""
        seen = []
        description = self.entries[name]
        while resolve_alias and isinstance(description, str):
            if description in seen:
                raise ValueError(f"the aliases {' -> '.join([name, *seen])} in {self.path} form a cycle")
            seen.append(description)
            description = self.entries[description]
        return description

    def arguments(self, name: str) -> dict:
        """Return the arguments of a local device; empty if there are none or the device is unknown."""
        try:
            return _arguments(self.get(name))
        except (KeyError, ValueError):
            return {}

    def channel_names(self) -> dict[int, str]:
        """Map RTIO channel numbers to device names, for every local entry of the device ``core`` with its own
        channel."""
        names: dict[int, str] = {}
        own = devices_on(self.entries, self.arguments("core").get("host"))
        for name, entry, channel in self._channels():
            if entry.get("type") == "local" and name in own:
                names.setdefault(channel, name)
        return names

    def channels_of(self, driver: str) -> frozenset[int]:
        """Return the RTIO channels of the entries whose class is `driver`."""
        return frozenset(channel for _, entry, channel in self._channels() if entry.get("class") == driver)

    @property
    def free_running(self) -> frozenset[int]:
        """The RTIO channels whose pins change without outputs: clock generators, and all that an SU-Servo drives, once
        they are started."""
        found = set(self.channels_of("TTLClockGen") | self.channels_of("SUServo"))
        for entry in self.entries.values():
            if not isinstance(entry, dict) or entry.get("class") != "SUServo":
                continue
            for card in _arguments(entry).get("cpld_devices", ()):
                update = self.arguments(card).get("io_update_device")
                found.add(self.channel_of(update) if isinstance(update, str) else None)
        return frozenset(found - {None})

    def _channels(self) -> Iterator[tuple[str, dict, int]]:
        """Yield name, description and RTIO channel of the entries that have one."""
        for name, entry in self.entries.items():
            channel = rtio_channel(entry)
            if channel is not None:
                yield name, entry, channel

    def channel_of(self, name: str) -> int | None:
        """Return the RTIO channel of a device; None if it has none of its own, or is unknown."""
        try:
            return rtio_channel(self.get(name))
        except (KeyError, ValueError):
            return None


def rtio_channel(entry) -> int | None:
    """Return the RTIO channel of a description, or None. The ``channel`` of a chip on a bus or a
    card does not count."""
    arguments = _arguments(entry)
    channel = arguments.get("channel")
    return channel if isinstance(channel, int) and not any(name in arguments for name in NUMBERED) else None


def _arguments(entry) -> dict:
    """Return the arguments of a description; empty if the entry is something else."""
    arguments = entry.get("arguments") if isinstance(entry, dict) else None
    return arguments if isinstance(arguments, dict) else {}
