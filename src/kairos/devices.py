"""Device database and device manager: from a name to the object that drives a device.

The database is a Python file that defines the dictionary ``device_db``. An entry is a description
(``{"type": "local", "module": ..., "class": ..., "arguments": {...}}``), the name of another entry (an alias), or a
``controller``, which needs a network client that Kairos does not have yet.
"""

import importlib
import runpy
import traceback
from pathlib import Path

from .errors import UsageError

__all__ = ["DeviceError", "DeviceDB", "DeviceManager", "DummyDevice"]


class DeviceError(Exception):
    """A device could not be created."""


class DummyDevice:
    """Stands for a device that is absent on purpose: it accepts every call and does nothing."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


class DeviceDB:
    """The entries of a device database file."""

    def __init__(self, entries: dict, path: str = "device database"):
        self.entries = entries
        self.path = path

    @classmethod
    def load(cls, path) -> "DeviceDB":
        """Run the file `path`; UsageError if it is missing, broken, or does not define ``device_db``."""
        if not Path(path).is_file():
            raise UsageError(f"no device database at {path}: give its path with --device-db FILE")
        try:
            names = runpy.run_path(str(path))
        except SyntaxError as error:
            raise UsageError(f"{error.filename}:{error.lineno}: {error.msg} (in the device database)") from None
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            line = next((f.lineno for f in reversed(frames) if f.filename == str(path)), "?")
            raise UsageError(f"{path}:{line}: {type(error).__name__}: {error} (in the device database)") from None
        entries = names.get("device_db")
        if not isinstance(entries, dict):
            raise UsageError(f"{path} does not define a dictionary named device_db")
        return cls(entries, str(path))

    def get(self, name: str, resolve_alias=True):
        """Description of the device `name`; KeyError if it is unknown, ValueError for a circle of aliases."""
        seen = []
        description = self.entries[name]
        while resolve_alias and isinstance(description, str):
            if description in seen:
                raise ValueError(f"the aliases {' -> '.join([name, *seen])} in {self.path} form a circle")
            seen.append(description)
            description = self.entries[description]
        return description

    def arguments(self, name: str) -> dict:
        """Arguments of a local device; empty if there are none or the device is unknown."""
        try:
            description = self.get(name)
        except (KeyError, ValueError):
            return {}
        arguments = description.get("arguments", {}) if isinstance(description, dict) else {}
        return arguments if isinstance(arguments, dict) else {}

    def channel_names(self) -> dict[int, str]:
        """RTIO channel number to device name, of every local entry that has an argument ``channel``."""
        names: dict[int, str] = {}
        for name, description in self.entries.items():
            if isinstance(description, dict) and description.get("type") == "local":
                channel = description.get("arguments", {}).get("channel")
                if isinstance(channel, int):
                    names.setdefault(channel, name)
        return names

    def channels_of(self, driver: str) -> frozenset[int]:
        """RTIO channels of the local entries whose class is `driver`."""
        entries = [entry for entry in self.entries.values() if isinstance(entry, dict) and entry.get("class") == driver]
        channels = (entry.get("arguments", {}).get("channel") for entry in entries)
        return frozenset(channel for channel in channels if isinstance(channel, int))


class DeviceManager:
    """Creates the devices of one run, each description once, and closes them in reverse order.

    `virtual_devices` are objects under fixed names (``scheduler``, ``ccb``) that no database describes.
    """

    def __init__(self, ddb: DeviceDB, virtual_devices: dict | None = None):
        self.ddb = ddb
        self.virtual_devices = virtual_devices or {}
        self.active: list[tuple[dict, object]] = []

    def get_device_db(self) -> dict:
        return self.ddb.entries

    def get_desc(self, name: str) -> dict:
        return self.ddb.get(name)

    def get(self, name: str):
        """The device `name`; DeviceError if it cannot be had."""
        if name in self.virtual_devices:
            return self.virtual_devices[name]
        try:
            description = self.get_desc(name)
        except KeyError as error:
            raise DeviceError(self._unknown(name, error.args[0])) from None
        except ValueError as error:
            raise DeviceError(str(error)) from None
        for known, device in self.active:
            if known == description:
                return device
        try:
            device = self._create(description)
        except DeviceError as error:
            raise DeviceError(f"Failed to create device '{name}': {error}") from error
        except Exception as error:
            raise DeviceError(f"Failed to create device '{name}': {type(error).__name__}: {error}") from error
        self.active.append((description, device))
        return device

    def _unknown(self, name, missing):
        import difflib

        alias = "" if missing == name else f" (alias of '{missing}')"
        close = difflib.get_close_matches(missing, list(self.ddb.entries), 1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        return f"the device '{name}'{alias} is not in the device database {self.ddb.path}{hint}"

    def _create(self, description):
        if not isinstance(description, dict):
            raise DeviceError(f"its entry in {self.ddb.path} is neither a dictionary nor the name of another entry")
        kind = description.get("type")
        if kind == "local":
            for field in ("module", "class"):
                if field not in description:
                    raise DeviceError(f"its entry in {self.ddb.path} lacks '{field}'")
            module = importlib.import_module(description["module"])
            try:
                cls = getattr(module, description["class"])
            except AttributeError:
                raise DeviceError(f"{description['module']} has no class '{description['class']}'") from None
            return cls(self, **description.get("arguments", {}))
        if kind == "dummy":
            return DummyDevice()
        if kind in ("controller", "controller_aux_target"):
            raise DeviceError("network controllers are not supported yet; use an entry of type 'local' or 'dummy'")
        raise ValueError(f"Unsupported type in device DB: {kind}")

    def notify_run_end(self):
        """Tell devices that want to know that ``run()`` is over."""
        for _, device in self.active:
            if hasattr(type(device), "notify_run_end"):
                device.notify_run_end()

    def close_devices(self):
        """Close every device, the newest first; an error of one does not keep the others open."""
        import logging

        while self.active:
            _, device = self.active.pop()
            close = getattr(type(device), "close_rpc", None) or getattr(type(device), "close", None)
            if close is not None:
                try:
                    close(device)
                except Exception:
                    logging.getLogger(__name__).warning("closing %r failed", device, exc_info=True)
