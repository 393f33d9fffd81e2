"""Cards (``kairos-emulator --cards``) and pin names (``--names``) of a device database, for the bench of an
emulated device.

A driver's entry determines the channels it uses; the card's model is wired to their pins,
regardless of their names.
"""

import math
from collections.abc import Callable, Iterator

from ..contracts.cards import CARDS, COUNTS, PINS, PLACES, WIRING, WITHOUT_MODEL

__all__ = ["beside", "cards", "channels_of", "doubled", "lacking", "pins"]


def _is_channel(number) -> bool:
    """Return whether this is a valid RTIO channel number."""
    return isinstance(number, int) and 0 <= number < 1 << 32


def _is_positive(number) -> bool:
    """Return whether this is a valid clock or reference value."""
    return isinstance(number, int | float) and 0 < number < math.inf


class _Database:
    """The entries of a device database, read without validation: errors are left to the drivers to
    report."""

    def __init__(self, entries: dict):
        self.entries = entries

    def resolved(self, name) -> str | None:
        """Return the name of an entry, following aliases; None if there is none."""
        seen: set[str] = set()
        while isinstance(name, str) and name not in seen:
            seen.add(name)
            entry = self.entries.get(name)
            if isinstance(entry, dict):
                return name
            name = entry
        return None

    def get(self, name) -> dict:
        """Return an entry, following aliases; an empty one if there is none."""
        name = self.resolved(name)
        return {} if name is None else self.entries[name]

    def arguments(self, entry: dict) -> dict:
        arguments = entry.get("arguments")
        return arguments if isinstance(arguments, dict) else {}

    def channels(self, **devices) -> dict[str, int]:
        """Return the RTIO channels of devices by their role, omitting devices without one."""
        found = {part: self.arguments(self.get(name)).get("channel") for part, name in devices.items()}
        return {part: channel for part, channel in found.items() if _is_channel(channel)}

    def own(self, entry: dict, **arguments) -> dict[str, int]:
        """Return the RTIO channels given as arguments of an entry, by their role, omitting missing
        ones."""
        found = {part: self.arguments(entry).get(argument) for part, argument in arguments.items()}
        return {part: number for part, number in found.items() if _is_channel(number)}

    def drivers(self, *classes: str) -> Iterator[tuple[str, dict]]:
        """Yield name and entry of each device with one of these drivers."""
        for name, entry in self.entries.items():
            if isinstance(entry, dict) and entry.get("class") in classes:
                yield name, entry

    def chips(self, card: dict) -> Iterator[tuple[str, dict, int | None]]:
        """Yield driver class, arguments and number of each chip whose driver names a card."""
        for _, entry in self.drivers(*PLACES):
            argument, number = PLACES[entry["class"]]
            arguments = self.arguments(entry)
            if self.get(arguments.get(argument)) is card:
                yield entry["class"], arguments, number and arguments.get(number)

    def servos(self, card: dict) -> Iterator[tuple[dict, int]]:
        """Yield the arguments of each SU-Servo with the Urukul `card`, and the card's index there."""
        for _, entry in self.drivers("SUServo"):
            arguments = self.arguments(entry)
            cards = arguments.get("cpld_devices")
            if isinstance(cards, list) and _is_channel(arguments.get("channel")):
                yield from ((arguments, place) for place, name in enumerate(cards) if self.get(name) is card)


def _wired(database: _Database, entry: dict) -> tuple[dict, dict]:
    """Return channels and settings of a card as `WIRING` describes them, for its own driver and for
    those of its chips."""
    own, arguments = WIRING.get(entry["class"], {}), database.arguments(entry)
    lines = {line: arguments.get(argument) for line, argument in own.get("lines", {}).items()}
    settings = {
        name: value
        for name, (argument, valid) in own.get("settings", {}).items()
        if (value := _setting(arguments.get(argument), valid)) is not None
    }
    for driver, chip, number in database.chips(entry):
        wiring = WIRING.get(driver, {})
        settings |= wiring.get("implies", {})
        if isinstance(number, int) and number >= wiring.get("first", 0):
            place = number - wiring.get("first", 0)
            lines |= {f"{line}{place}": chip.get(argument) for line, argument in wiring.get("lines", {}).items()}
    return database.channels(**lines) | database.own(entry, **own.get("channels", {})), settings


def _setting(value, valid):
    """Return a setting if it has the type `valid`, or is one of these values; else None."""
    if valid == "number":
        return float(value) if _is_positive(value) else None
    if valid == "text":
        return value if isinstance(value, str) else None
    return value if value in valid else None


# Functions that complete channels and settings of a card, by its entry. None: the entry belongs to the card of
# another one.


def _urukul(database: _Database, entry: dict, channels: dict, settings: dict) -> tuple[dict, dict]:
    arguments = database.arguments(entry)
    reference = arguments.get("refclk")
    if _is_positive(reference):
        # Clock selection of the configuration: bit 0 the SMA connector, else bit 1 the MMCX
        # connector, else the oscillator.
        select = arguments.get("clk_sel", 0)
        source = ("oscillator_hz", "sma_hz", "mmcx_hz", "sma_hz")[select if select in range(4) else 0]
        settings[source] = float(reference)
    for servo, place in database.servos(entry):
        # A servo's channels precede it, four per card.
        number = servo["channel"]
        first = number + COUNTS["urukul"] * (place - len(servo["cpld_devices"]))
        channels |= {f"nu{place}": number} | {f"sw{n}": first + n for n in range(COUNTS["urukul"])}
    return channels, settings


def _ad53xx(database: _Database, entry: dict, channels: dict, settings: dict) -> tuple[dict, dict]:
    """The lowest bit of its chip select is its select line on the bus."""
    select = database.arguments(entry).get("chip_select", 1)
    if isinstance(select, int) and select > 0:
        settings["select"] = (select & -select).bit_length() - 1
    return channels, settings


def _mirny(database: _Database, entry: dict, channels: dict, settings: dict) -> tuple[dict, dict]:
    arguments = database.arguments(entry)
    reference, select = arguments.get("refclk"), arguments.get("clk_sel")
    if _is_positive(reference):
        # A name stands for a number that depends on the card's revision; the source that the driver
        # selects gets the reference.
        count = COUNTS["mirny"]
        chosen = select if select in range(count) else 0
        settings["clocks_hz"] = [float(reference) if n == chosen else 0.0 for n in range(count)]
    return channels, settings


def _beside(database: _Database, name: str, driver: str) -> dict:
    """Return the entry of the device with this driver that belongs to the same card as `name` (a
    device without suffix has the card's name: ``shuttler0`` and ``shuttler0_relay``), or else the
    first one."""
    return database.get(beside(database.entries, name, driver))


def _shuttler(database: _Database, entry: dict, channels: dict, settings: dict) -> tuple[dict, dict] | None:
    """Describe the card of a relay driver or, if that has none, of a settings driver. Its ADC and
    settings are those with the same name prefix, or else the first."""
    (own,) = [name for name, other in database.drivers("Relay", "Config") if other is entry][:1]
    config, relay = entry, None
    if entry["class"] == "Relay":
        config, relay = _beside(database, own, "Config"), database.arguments(entry).get("spi_device")
    elif any(_beside(database, name, "Config") is entry for name, _ in database.drivers("Relay")):
        return None
    adc = database.arguments(_beside(database, own, "ADC")).get("spi_device")
    return database.channels(relay=relay, adc=adc) | database.own(config, config="channel"), settings


def _on_card(database: _Database, entry: dict, channels: dict, settings: dict) -> tuple[dict, dict] | None:
    """Describe a chip alone on its bus, unless it is one of a Phaser as a satellite."""
    cards = (card for _, card in database.drivers("PhaserMTDDS"))
    chips = (chip for card in cards for chip in _chips_of(database, card).values())
    return None if any(chip is entry for chip in chips) else (channels, settings)


def _chips_of(database: _Database, card: dict) -> dict[str, dict]:
    """Return the entries of the chips of a Phaser as a satellite, by the beginning of their lines."""
    found = {"dac": database.get(database.arguments(card).get("dac_device"))}
    for _, channel in database.drivers("PhaserMTDDSChannel"):
        arguments = database.arguments(channel)
        if database.get(arguments.get("fpga_device")) is card:
            number = arguments.get("channel_index")
            found |= {f"lo{number}": database.get(arguments.get("iquc_device"))}
            found |= {f"att{number}": database.get(arguments.get("att_device"))}
    return {line: chip for line, chip in found.items() if chip}


def _mtdds(database: _Database, entry: dict, channels: dict, settings: dict) -> tuple[dict, dict]:
    chips = _chips_of(database, entry)
    buses = {line: database.arguments(chip).get("spi_device") for line, chip in chips.items()}
    return channels | database.channels(**buses), settings


DERIVED: dict[str, Callable] = {
    "ad53xx": _ad53xx,
    "mirny": _mirny,
    "mtdds": _mtdds,
    "on_card": _on_card,
    "shuttler": _shuttler,
    "urukul": _urukul,
}
"""The functions that complete cards, by the names that `derived` in `kairos.contracts.cards.WIRING` has for them."""


def beside(entries: dict, name: str, driver: str) -> str | None:
    """Return the device with a driver that belongs to the same card as `name`, or else the first one; None: there is
    none."""
    found = [other for other, _ in _Database(entries).drivers(driver)]
    own = {name, name.rpartition("_")[0]} - {""}
    near = [other for other in found if own & {other, other.rpartition("_")[0]}]
    return next(iter(near or found), None)


def channels_of(entries: dict, driver: str) -> dict[str, int]:
    """Return the RTIO channels of the devices with a driver."""
    database = _Database(entries)
    found = {name: database.arguments(entry).get("channel") for name, entry in database.drivers(driver)}
    return {name: number for name, number in found.items() if _is_channel(number)}


def cards(entries: dict) -> list[dict]:
    """Return the cards of a device database with the entries `entries`, in the format of
    ``--cards``."""
    database = _Database(entries)
    found = []
    for name, entry in database.drivers(*CARDS):
        described = _wired(database, entry)
        if derived := WIRING.get(entry["class"], {}).get("derived"):
            described = DERIVED[derived](database, entry, *described)
        if described is None:
            continue
        channels, settings = described
        found.append({"kind": CARDS[entry["class"]], "device": name, "channels": channels, "settings": settings})
    return found


def doubled(entries: dict) -> list[str]:
    """List the chips that several devices drive, one line each: settings of one device are changed
    by the other."""
    database = _Database(entries)
    drivers: dict[str, list[str]] = {}
    for name, entry in database.drivers(*PLACES):
        card, chip = PLACES[entry["class"]]
        arguments = database.arguments(entry)
        place = arguments.get(card)
        where = f"{card} {place}" if isinstance(place, int) else database.resolved(place)
        number = None if chip is None else arguments.get(chip)
        if where is not None and (chip is None or isinstance(number, int)):
            named = "the one on" if chip is None else f"{chip} {number} of"
            drivers.setdefault(f"{named} {where}", []).append(name)
    return [f"{', '.join(names)} drive one chip: {place}" for place, names in drivers.items() if len(names) > 1]


def pins(entries: dict) -> dict[str, int]:
    """Return the RTIO channels of single-pin devices, by name and alias, in the format of
    ``--names``."""
    database = _Database(entries)
    of_pins = ((name, database.get(name)) for name in entries)
    channels = {name: database.arguments(entry).get("channel") for name, entry in of_pins if entry.get("class") in PINS}
    return {name: channel for name, channel in channels.items() if _is_channel(channel)}


def lacking(entries: dict) -> dict[str, str]:
    """Return the devices that drive a card without a model, with their classes."""
    return {name: entry["class"] for name, entry in _Database(entries).drivers(*WITHOUT_MODEL)}
