"""What there is to watch at a core device: its channels as its gateware describes them, under the names
of the device database, with the outputs of cards behind them."""

import logging
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..contracts.descriptor import ChannelKind
from ..devices import DeviceDB, DeviceManager
from ..network.moninj import Override, Probe

__all__ = ["Row", "core_devices", "rows"]

logger = logging.getLogger(__name__)

PINS = {ChannelKind.TTL_OUT: "ttl_out", ChannelKind.TTL_INOUT: "ttl_inout"}
CLASSES = {"TTLOut": "ttl_out", "TTLInOut": "ttl_inout"}
"""Kinds of pins on boards whose gateware is not asked, by the class of their driver."""
QUANTITIES = {"Hz": "frequency", "V": "voltage"}
INPUTS = {"V": "measured_voltage"}
"""Kinds of what cards have measured, by unit."""
OWN = ("artiq.coredevice.", "kairos.coredevice.")
"""Drivers that are made to learn what a card shows; those of users may do anything."""


class Row(NamedTuple):
    """A pin, an output or an input of a card, or a channel that cannot be watched."""

    name: str
    kind: str
    """``ttl_out``, ``ttl_inout``, ``frequency``, ``voltage``, ``measured_voltage``, or the kind of another channel."""
    channel: int
    unit: str = ""
    probe: int | None = None
    """Number of its probe; None if it cannot be watched."""
    quantity: Callable[[int], float] | None = None
    """Converts what the probe reports to `unit`."""
    switch: str = ""
    """Name of the pin that switches it on and off; empty if there is none, or only a register of the card."""
    settings: tuple = ()
    """What a run of its own can set it to, as `outputs.settings.Setting`."""

    @property
    def is_pin(self) -> bool:
        """Whether it has overrides."""
        return self.kind in CLASSES.values()

    @property
    def is_input(self) -> bool:
        """Whether a card has measured its value, so that nothing sets it."""
        return self.kind in INPUTS.values()

    def probes(self) -> list[int]:
        """Return the probes to be watched."""
        if self.probe is None:
            return []
        return [self.probe, Probe.OUTPUT_ENABLE] if self.kind == "ttl_inout" else [self.probe]

    def overrides(self) -> list[int]:
        """Return the overrides to be watched."""
        return [Override.ENABLE] if self.is_pin else []


def core_devices(entries: dict) -> list[str]:
    """Return the names of the core devices of a device database."""
    return [
        name
        for name, entry in entries.items()
        if isinstance(entry, dict)
        and entry.get("type") == "local"
        and entry.get("class") == "Core"
        and isinstance(entry.get("arguments"), dict)
        and isinstance(entry["arguments"].get("host"), str)
    ]


def rows(described: list, entries: dict, core: str) -> dict[str, Row]:
    """Return the rows of the core device `core` by name, in the order of their channels.

    `described`: the channels of its own board, each number, kind, name and parameters, as of
    `Management.descriptor`; those of other boards are known from the device database only.
    """
    database = DeviceDB({name: entry for name, entry in entries.items() if _belongs_to(entry, core)})
    names = database.channel_names()
    found = [_described(*channel, names) for channel in described]
    known = {row.channel for row in found}
    found += [
        _pin(name, CLASSES.get(str(database.get(name).get("class")), str(database.get(name).get("class"))), channel)
        for channel, name in names.items()
        if channel >> 16 and channel not in known
    ]
    found += _cards(database)
    ordered = sorted(found, key=lambda row: (row.channel, row.probe or 0))
    return {row.name: row for row in ordered}


def _described(number, kind, name, _, names) -> Row:
    try:
        kind = ChannelKind(kind)
    except ValueError:
        return Row(names.get(number, name), f"kind {kind}", number)
    return _pin(names.get(number, name), PINS.get(kind, kind.name.lower()), number)


def _pin(name: str, kind: str, channel: int) -> Row:
    return Row(name, kind, channel, probe=Probe.LEVEL if kind in CLASSES.values() else None)


def _belongs_to(entry, core: str) -> bool:
    arguments = entry.get("arguments") if isinstance(entry, dict) else None
    if not isinstance(arguments, dict):
        return False
    return arguments.get("core", arguments.get("core_device", "core")) == core or entry.get("class") == "Core"


def _cards(database: DeviceDB) -> Iterator[Row]:
    """Yield what the cards show; those whose driver cannot be made show nothing."""
    from .. import compat  # imported late: only laboratories with devices need drivers, which load NumPy

    compat.install()
    from ..outputs.settings import settings  # likewise

    manager = DeviceManager(database)
    for name, entry in database.entries.items():
        module = str(entry.get("module"))
        if not module.startswith(OWN) or module.endswith((".ttl", ".core")):
            continue
        try:
            card = manager.get(name)
            probes = getattr(card, "monitored", list)()
            possible = tuple(settings(card))
        except Exception as error:  # whatever the entry is, the others are shown
            logger.warning("%s is not shown: %s", name, error)
            continue
        switch = _switch(database, name)
        for shown in probes:
            label = name if shown.place is None else f"{name}:{shown.place}"
            kind = (INPUTS if shown.is_input else QUANTITIES).get(shown.unit, "value")
            yield Row(label, kind, shown.channel, shown.unit, shown.probe, shown.quantity, switch, possible)


def _switch(database: DeviceDB, name: str) -> str:
    """Return the name of the pin that switches a card's output, as in its row; empty if there is none."""
    pin = database.arguments(name).get("sw_device")
    if not isinstance(pin, str):
        return ""
    channel = database.arguments(pin).get("channel")
    return database.channel_names().get(channel, "") if isinstance(channel, int) else ""
