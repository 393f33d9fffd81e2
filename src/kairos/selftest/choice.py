"""Which cards of a device database are tested: not those of another core device, that the gateware of an emulated
device does not have, or that another entry stands for already."""

import re
from dataclasses import dataclass, field

from .. import emulator as emulation
from ..contracts.cards import PINS, PLACES
from ..devices import DeviceDB, core_of, resolved
from ..devices.agreement import numbered
from ..errors import UsageError
from .cards import TESTS
from .report import Report

__all__ = ["Choice", "chosen", "entries_with", "free_outputs", "on_core", "used"]

CORE = "core"
SHOWN = 12
"""Cards that a message lists."""


def entries_with(database: DeviceDB, *classes: str) -> list[str]:
    """Return the entries with one of these driver classes."""
    entries = database.entries.items()
    return [name for name, entry in entries if isinstance(entry, dict) and entry.get("class") in classes]


def _names_in(entry) -> list[str]:
    arguments = entry.get("arguments") if isinstance(entry, dict) else None
    values = arguments.values() if isinstance(arguments, dict) else ()
    return [
        name for value in values for name in (value if isinstance(value, list) else [value]) if isinstance(name, str)
    ]


def used(database: DeviceDB) -> set[str]:
    """Return the devices that another entry names in its arguments: they belong to its card."""
    found = {name for entry in database.entries.values() for name in _names_in(entry)}
    return found | {database.entries[name] for name in found if isinstance(database.entries.get(name), str)}


@dataclass
class Choice:
    """`database`: what is there, with its core device as ``core``. `absent`: why another device is not tested, by name.
    `same`: the entry that stands for the same channel, by name. `others`: cards of other core devices, by their core
    device."""

    database: DeviceDB
    absent: dict[str, str] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)
    others: dict[str, list[str]] = field(default_factory=dict)

    def wired(self) -> DeviceDB:
        """Return the database with what a bench can be wired to."""
        left_out = self.absent.keys() | self.same.keys()
        # What cards use stays, under each of its names
        kept = used(self.database)
        entries = {name: entry for name, entry in self.database.entries.items() if name not in left_out or name in kept}
        return DeviceDB({name: each for name, each in entries.items() if name not in self.absent}, self.database.path)

    def record(self, report: Report, names: list[str]):
        """Record what is not tested: of `names`, or of all cards."""
        for core, cards in self.others.items() if not names else ():
            count = f"{len(cards)} card{'' if len(cards) == 1 else 's'}"
            report.open(core, "all", f"{count} of this core device: test them with --core {core}")
        for name, why in self.absent.items():
            if self._is_card(name) and (not names or name in names or _beginning(name) in names):
                report.open(name, "all", why)
        for name, other in self.same.items() if not names else ():
            report.open(name, "all", f"it is {other}")

    def _is_card(self, name: str) -> bool:
        return (self.database.get(name).get("class") if name in self.database.entries else None) in TESTS


def on_core(database: DeviceDB, core: str, twin: str | None) -> Choice:
    """Return what is to be tested of the core device `core`, on the emulated device `twin` unless it is None.
    UsageError for a core device that there is not, and another address of an emulated one."""
    entry = database.entries.get(core := resolved(database.entries, core))
    if not isinstance(entry, dict) or entry.get("class") != "Core":
        known = ", ".join(entries_with(database, "Core")) or "none"
        raise UsageError(f"{database.path} has no core device {core}; its core devices: {known}")
    if twin is not None:
        if not emulation.is_emulated(twin):
            raise UsageError(f"--twin {twin}: an emulated device is emulator://VARIANT, such as emulator://lab")
        entry = {**entry, "arguments": {**database.arguments(core), "host": twin}}
    cores = set(entries_with(database, "Core"))
    owners = {name: core_of(database.entries, name) for name in database.entries if name not in cores}
    entries = {name: database.entries[name] for name, owner in owners.items() if owner == core}
    entries |= {CORE: entry, core: entry}
    others: dict[str, list[str]] = {}
    taken = used(database)
    for name, owner in owners.items():
        each = database.entries[name]
        kind = each.get("class") if isinstance(each, dict) else None
        if owner != core and owner in cores and kind in TESTS and not (kind in PINS and name in taken):
            others.setdefault(owner, []).append(name)
    choice = Choice(DeviceDB(entries, database.path), others=others)
    choice.absent = _absent(entries, entry["arguments"].get("host"))
    first: dict[tuple, str] = {}
    for name, cls, channel in numbered(entries):
        # Several chips may be on one bus
        _, chip = PLACES.get(cls, (None, None))
        other = first.setdefault((cls, channel, str(entries[name]["arguments"].get(chip))), name)
        if other != name and name not in choice.absent and cls in TESTS:
            choice.same[name] = other
    return choice


def _absent(entries: dict, host) -> dict[str, str]:
    """Return why devices of an emulated device are not there, by name: for their channel, or a device that they use."""
    channels = emulation.channels_of(host) if emulation.is_emulated(host) else None
    if channels is None:
        return {}
    boards = {channel >> 16 for channel in channels}
    absent = {}
    for name, _, channel in numbered(entries):
        if channel >> 16 not in boards:
            absent[name] = f"the emulated device has no board {channel >> 16}"
        elif channel not in channels:
            absent[name] = f"the gateware of the emulated device has no channel {channel:#08x}"
    missing = set(absent)
    while missing:
        users = {
            name: next(each for each in _names_in(entry) if each in missing)
            for name, entry in entries.items()
            if name not in absent and missing.intersection(_names_in(entry))
        }
        absent |= {name: f"{absent[device]} (of {device})" for name, device in users.items()}
        missing = set(users)
    return absent


def _beginning(name: str) -> str:
    """Return a name up to the first character that is no letter or digit: ``urukul0`` of ``urukul0_cpld``."""
    return re.split(r"[\W_]", name, maxsplit=1)[0]


def _of_phasers(database: DeviceDB) -> set[str]:
    """Return the chips of Phasers as satellites: each is in reset until its card has been initialised."""
    parts = entries_with(database, "PhaserMTDDS", "PhaserMTDDSChannel")
    found = {name for part in parts for name in _names_in(database.entries[part])}
    return found & set(entries_with(database, "DAC34H84", "HMC542B", "TRF372017"))


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more, see --list" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def free_outputs(database: DeviceDB) -> list[str]:
    """Return the TTL outputs that belong to no card, and are no input at the same time."""
    taken = used(database)
    inputs = {database.channel_of(name) for name in entries_with(database, "TTLInOut")}
    outputs = entries_with(database, "TTLOut")
    return [name for name in outputs if name not in taken and database.channel_of(name) not in inputs]


def chosen(choice: Choice, names: list[str]) -> list[str]:
    """Return the entries to test, in the order of the tests: all, or those that `names` name, entirely or by
    their beginning (``urukul0``). UsageError for a name that stands for none."""
    database = choice.database
    taken = used(database) & set(entries_with(database, *PINS)) | _of_phasers(database)
    left_out = choice.absent.keys() | choice.same.keys()
    tested = [name for kind in TESTS for name in entries_with(database, kind) if name not in taken | left_out]
    if not names:
        return tested
    found: dict[str, None] = {}
    for wanted in names:
        entry = database.entries.get(wanted)
        named = [wanted] if wanted in tested else [name for name in tested if _beginning(name) == wanted]
        if not named and isinstance(entry, str):
            named = [entry] if entry in tested else []
        if not named and wanted in choice.same:
            named = [choice.same[wanted]]
        if not named and not any(wanted in (name, _beginning(name)) for name in choice.absent):
            raise UsageError(f"{wanted}: the device database has no card of this name; it has {_listed(tested)}")
        found |= dict.fromkeys(named)
    return [name for name in tested if name in found]
