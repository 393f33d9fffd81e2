"""The state of chips at the end of a run: what is in the registers of each DDS, DAC and CPLD, as their models know
it from what went over the buses.

In result files it is the group ``waveform/chips``: `names` (``urukul0.ch0.CFR1``) and `values`; `cards`
(``urukul0``) and `devices`, the entries of the device database that stand for them. A register of which nothing was
sent has its value after power-up.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .. import resultfiles

__all__ = ["CHIPS", "Changed", "changed", "collected", "devices_of", "packed", "reported", "unpacked"]

CHIPS = "chips"
REGISTERS = "registers"
"""Entry of a report with the registers of a chip."""


def collected(report: dict) -> dict[str, int]:
    """Return the values of all registers by name, from an emulated device's report of its bench's parts."""
    return {".".join((*chip, name)): int(word) for chip, words in _chips(report, ()) for name, word in words.items()}


def reported(report: dict) -> set[str]:
    """Return the names of the chips in such a report, also of memories that hold nothing yet."""
    return {".".join(chip) for chip, _ in _chips(report, ())}


def _chips(report: dict, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], dict]]:
    for name, value in report.items():
        if not isinstance(value, dict):
            continue
        if name == REGISTERS:
            yield path, value
        else:
            yield from _chips(value, (*path, name))


def packed(registers: dict[str, int], plan: dict) -> dict[str, Any]:
    """Return the values of the group, by name. `plan`: of the bench, with the devices of its parts."""
    import numpy as np  # imported late: it takes 0.15 s, in which a device boots

    cards = dict.fromkeys(name.partition(".")[0] for name in registers)
    devices = {part["name"]: part["device"] for part in plan.get("parts", ()) if part["name"] in cards}
    devices = {name: device for name, device in devices.items() if device is not None}
    values = np.array(list(registers.values()), np.uint64)
    found = {f"{CHIPS}/names": list(registers), f"{CHIPS}/values": values}
    return found | ({f"{CHIPS}/cards": list(devices), f"{CHIPS}/devices": list(devices.values())} if devices else {})


def unpacked(group) -> dict[str, int]:
    """Return the values of all registers by name, from the group ``waveform`` of an HDF5 file; empty if it has none."""
    if (found := resultfiles.group_of(group, CHIPS)) is None:
        return {}
    return dict(zip(resultfiles.texts(found["names"]), resultfiles.value(found["values"]).tolist(), strict=True))


def devices_of(group) -> dict[str, str]:
    """Return the devices that stand for the cards, by the cards' names, from the same group; empty if the file is from
    before they were stored."""
    found = resultfiles.group_of(group, CHIPS)
    if found is None or "devices" not in found:
        return {}
    return dict(zip(*(resultfiles.texts(found[name]) for name in ("cards", "devices")), strict=True))


@dataclass(frozen=True)
class Changed:
    """A register that differs between two runs; None: the run has no such chip."""

    register: str
    first: int | None
    second: int | None

    @property
    def text(self) -> str:
        """Describe it in one line."""
        values = ("no such chip" if value is None else f"{value:#x}" for value in (self.first, self.second))
        return f"{self.register}: {' in the first, '.join(values)} in the second"

    def described(self) -> dict[str, Any]:
        """Return it as JSON."""
        return dict(vars(self))


def changed(one: dict[str, int], other: dict[str, int]) -> list[Changed]:
    """Return the registers that differ."""
    pairs = ((name, one.get(name), other.get(name)) for name in dict.fromkeys([*one, *other]))
    return [Changed(*each) for each in pairs if each[1] != each[2]]
