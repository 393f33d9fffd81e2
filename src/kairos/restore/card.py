"""A card of a run whose chips are restored, and calls of the kernels that do it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ..devices import DeviceDB
from .kernels import Kernels

__all__ = ["Card", "Refused", "Registers", "call", "step"]


class Refused(Exception):
    """Why a card cannot be restored."""


class Registers(dict[str, int]):
    """The registers that a run left in a card or chip. Refused for one that is missing: it was another one."""

    def __missing__(self, name):
        raise Refused(f"the run's card has no register {name}: it was another card than the device database has")


@dataclass
class Card:
    """A card of a run: its `name` on the bench, the entry `device` that stands for it, and its registers."""

    name: str
    device: str
    registers: Registers
    database: DeviceDB
    untouched: list[str] = field(default_factory=list)
    """Chips to which the run never wrote; an empty name: the whole card."""
    passing: set[str] = field(default_factory=set)
    """Registers whose values are none to restore: commands, results, what a chip's initialisation has tuned."""

    parts: list["Card"] = field(default_factory=list)
    """Cards that are restored with this one."""

    @property
    def driver(self) -> str:
        """Class of the driver."""
        return self.database.entries[self.device]["class"]

    @property
    def restored(self) -> dict[str, int]:
        """What is restored of the registers, by their whole names."""
        left = tuple(f"{chip}." for chip in self.untouched)
        kept = {key: value for key, value in self.registers.items() if key not in self.passing}
        return {f"{self.name}.{key}": value for key, value in kept.items() if not key.startswith(left)}

    def of(self, chip: str) -> Registers:
        """Return the registers of a chip, by their names."""
        start, own = f"{chip}.", self.registers.items()
        return Registers({name.removeprefix(start): value for name, value in own if name.startswith(start)})

    def numbered(self, name: str, least: int = 0) -> list[int]:
        """Return equal registers (NAME0, NAME1...), as many as there are, at least `least`."""
        count = sum(key.startswith(name) and key.removeprefix(name).isdecimal() for key in self.registers)
        return [self.registers[f"{name}{n}"] for n in range(max(count, least))]

    def check_channels(self, count: int, register: str):
        """Refused if the run's card had more channels, each with this register."""
        had = sum(name.startswith("ch") and name.endswith(f".{register}") for name in self.registers)
        if had != count:
            raise Refused(f"it had {had} channels in the run, and has {count} now")

    def chips(self, **places: str) -> dict[int, tuple[str, str]]:
        """Return the devices that name this card, with their class, by number. `places`: for each class the argument
        with the card's name, and that with the number, with a space between."""
        found = {}
        for name, entry in self.database.entries.items():
            if not isinstance(entry, dict) or entry.get("class") not in places:
                continue
            card, _, number = places[entry["class"]].partition(" ")
            arguments = self.database.arguments(name)
            if self._is_this(arguments.get(card)):
                found[int(arguments.get(number, 0))] = name, entry["class"]
        return found

    def _is_this(self, name) -> bool:
        return isinstance(name, str) and name in self.database.entries and self.resolved(name) == self.device

    def resolved(self, name: str) -> str:
        """Return the entry that a name or alias stands for."""
        while isinstance(self.database.entries.get(name), str):
            name = self.database.entries[name]
        return name


def call(method: str, devices, *arguments, kernels: type[Kernels] = Kernels, **roles: str | list[str]):
    """Call a kernel of a class of them with drivers by role, or lists of drivers."""
    made = {
        role: devices.get(name) if isinstance(name, str) else [devices.get(each) for each in name]
        for role, name in roles.items()
    }
    getattr(kernels(devices.get("core"), **made), method)(*arguments)


def step(method: str, *arguments, kernels: type[Kernels] = Kernels, **roles: str | list[str]) -> Callable:
    """Return a function that takes the drivers of a device manager and calls a kernel, see `call`."""
    return lambda devices: call(method, devices, *arguments, kernels=kernels, **roles)
