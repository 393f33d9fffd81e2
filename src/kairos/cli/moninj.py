"""``kairos moninj``: monitors pins and cards, overrides and releases pins, sets outputs of cards."""

import json
import time
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from ..contracts.moninj import Report
from ..devices import DeviceDB
from ..errors import CommandLineError, UsageError
from ..labclient import connect
from ..network.moninj import CONNECT_TIMEOUT, PORT, MonInj, Override, Probe
from .address import address_of

__all__ = ["release", "set_level", "set_output", "watch"]

CONFIRMED = 5.0
"""Timeout in seconds for the device's confirmation of a setting."""
MEGA = 1e6
UNITS = {"frequency": "Hz", "voltage": "V"}
"""Units in which quantities may be given."""


class Watched(NamedTuple):
    """An observed probe: its name for users, and the card's probe, None for a plain number."""

    name: str
    card: object = None

    def line(self, seen, as_json: bool) -> str:
        """Format a report as a line."""
        if as_json:
            fields = {"name": self.name, "channel": seen.channel, "probe": seen.number, "value": seen.value}
            if self.card is not None:
                quantity = self.card.quantity(seen.value)
                fields |= {"quantity": quantity if isfinite(quantity) else None, "unit": self.card.unit}
            return json.dumps(fields)
        return f"{self.name}: {seen.value if self.card is None else self._quantity(seen.value)}"

    def _quantity(self, value: int) -> str:
        quantity = self.card.quantity(value)
        if self.card.is_input:
            return f"{quantity:.6g} {self.card.unit}" if isfinite(quantity) else "nothing was measured yet"
        if self.card.unit != "Hz":
            # The gateware begins with 0, which is also the code of the lowest voltage.
            unless_written = "" if value else ", or nothing was written yet"
            return f"{quantity:.4f} {self.card.unit}{unless_written}"
        return f"{round(quantity / MEGA, 6):.10g} MHz"


def watch(args):
    """Print the levels of the pins, and the last outputs and measurements of the cards, named by the command line
    `args`, and each change."""
    database = _database(args)
    watched = {address: probe for name in args.names for address, probe in _probes(name, database)}
    device = MonInj(*address_of(args, PORT))
    for channel, probe in watched:
        device.watch(channel, probe)
    # The time begins with the first values, which a busy device may take a while to send.
    awaited, end = set(watched), time.monotonic() + max(CONNECT_TIMEOUT, args.seconds or 0)
    while args.seconds is None or (left := end - time.monotonic()) > 0:
        seen = device.next(None if args.seconds is None else left)
        if seen is None or seen.kind != Report.PROBE or (seen.channel, seen.number) not in watched:
            continue
        print(watched[seen.channel, seen.number].line(seen, args.json), flush=True)
        if awaited:
            awaited.discard((seen.channel, seen.number))
            if not awaited and args.seconds is not None:
                end = time.monotonic() + args.seconds
    device.close()


def _probes(name: str, database: DeviceDB | None):
    """Return ((channel, probe), `Watched`) for a name such as ``ttl0``, ``zotino0:3``, ``9:1``."""
    device, separator, number = name.rpartition(":")
    if not (separator and number.isdecimal()):
        device, number = name, ""
    cards = _cards(device, database)
    if cards is None:
        return [((_channel(device, database), int(number or Probe.LEVEL)), Watched(name))]
    if number:
        cards = [card for card in cards if card.place == int(number)]
    if not cards:
        raise UsageError(f"'{name}' has nothing to monitor")
    labels = (name if number or card.place is None else f"{device}:{card.place}" for card in cards)
    return [((card.channel, card.probe), Watched(label, card)) for card, label in zip(cards, labels, strict=True)]


def _cards(name: str, database: DeviceDB | None):
    """Return the probes of a card; None if the name is that of a plain channel, or unknown.
    UsageError for an entry from which no driver can be made."""
    try:
        module = database.get(name)["module"] if database is not None else ""
    except (KeyError, TypeError, ValueError):
        return None
    if str(module).rpartition(".")[2] in ("", "ttl"):
        return None
    from .. import compat  # imported late: pins need no drivers, which load NumPy
    from ..devices import DeviceError, DeviceManager  # likewise

    compat.install()
    try:
        device = DeviceManager(database).get(name)
    except DeviceError as error:
        raise UsageError(f"{database.path}: {error}") from None
    probes = getattr(device, "monitored", None)
    return None if probes is None else probes()


def set_level(args):
    """Override pins with a level."""
    level = int(args.level)
    # The level first, so that the pin changes only once.
    _inject(args, {Override.LEVEL: level, Override.OUTPUT_ENABLE: 1, Override.ENABLE: 1})


def release(args):
    """Release pins."""
    _inject(args, {Override.ENABLE: 0})


def set_output(args):
    """Set an output of a card by a run of the laboratory."""
    from ..experiment.arguments import quantity  # imported late: pins need no experiments

    values = {}
    for text in args.values:
        name, separator, value = text.partition("=")
        try:
            values[name] = float(quantity(value.removesuffix("dB"), UNITS.get(name, "")))
        except (TypeError, ValueError) as error:
            raise CommandLineError(f"'{text}': {error}" if separator else f"'{text}' is not QUANTITY=VALUE") from None
    rid = connect(args.lab).set_output("", args.name, values, args.initialise)
    print(f"{args.name} is set by run {rid}")


def _inject(args, values: dict[Override, int]):
    database = _database(args)
    names = {_channel(name, database): name for name in args.names}
    device = MonInj(*address_of(args, PORT))
    for channel in names:
        for override, value in values.items():
            device.inject(channel, override, value)
    for channel, name in names.items():
        device.ask(channel, Override.ENABLE)
        seen = device.next(CONFIRMED)
        if seen is None or seen.value != values[Override.ENABLE]:
            raise UsageError(f"'{name}' cannot be overridden: it is not a TTL")
    device.close()


def _database(args) -> DeviceDB | None:
    return DeviceDB.load(args.device_db) if Path(args.device_db).exists() or not args.device else None


def _channel(name: str, database: DeviceDB | None) -> int:
    """Return the number of a channel. UsageError."""
    try:
        return int(name, 0)
    except ValueError:
        pass
    channel = database.channel_of(name) if database is not None else None
    if not isinstance(channel, int):
        raise UsageError(f"there is no device '{name}' with a channel in the device database: give its name or number")
    return channel
