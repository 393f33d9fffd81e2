"""The monitors of a laboratory's core devices, by their names in the device database."""

from collections.abc import Callable

from .channels import core_devices
from .device import Devices
from .monitor import Monitor

__all__ = ["Monitors"]


class Monitors:
    """The monitors. `stated()`: the device database as its file has it; `resolved()`: with the
    addresses of emulated devices."""

    def __init__(self, devices: Devices, stated: Callable[[], dict], resolved: Callable[[], dict]):
        self._devices, self._stated, self._resolved = devices, stated, resolved
        self._monitors: dict[str, Monitor] = {}

    def names(self) -> list[str]:
        """Return the names of all core devices."""
        return core_devices(self._stated())

    def of(self, name: str) -> Monitor:
        """Return the monitor of a core device; LookupError."""
        if name not in self.names():
            raise LookupError(f"core device '{name}'")
        if name not in self._monitors:
            self._monitors[name] = Monitor(name, lambda port: self.address(name, port), self._resolved)
        return self._monitors[name]

    def address(self, name: str, port: int) -> tuple[str, int]:
        """Return host and port of a service of a core device."""
        return self._devices.address(self._stated()[name]["arguments"]["host"], port)
