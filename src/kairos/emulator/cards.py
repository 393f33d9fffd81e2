"""Cards (``kairos-emulator --cards``) and pin names (``--names``) of a device database, for the bench of an
emulated device.

A driver's entry determines the channels it uses; the card's model is wired to their pins,
regardless of their names.
"""

import math
from collections.abc import Iterator

from ..contracts.cards import CARDS, PINS, PLACES, WITHOUT_MODEL

__all__ = ["cards", "doubled", "lacking", "pins"]

REVISIONS = (8, 9)
"""Modelled revisions of the Urukul's logic."""
CHANNELS = 4
"""DDS channels of an Urukul."""
ALMAZNY = {"AlmaznyLegacy": "v1.1", "AlmaznyChannel": "v1.2"}
"""Expansion card of a Mirny, by driver class."""
FIRST_DDS = 4
"""Chip select of an Urukul's channel 0."""


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

    def behind(self, card: dict, argument: str, *classes: str) -> list[dict]:
        """Return the arguments of the devices whose `argument` names a card."""
        of_class = (self.arguments(entry) for _, entry in self.drivers(*classes))
        return [arguments for arguments in of_class if self.get(arguments.get(argument)) is card]

    def servos(self, card: dict) -> Iterator[tuple[dict, int]]:
        """Yield the arguments of each SU-Servo with the Urukul `card`, and the card's index there."""
        for _, entry in self.drivers("SUServo"):
            arguments = self.arguments(entry)
            cards = arguments.get("cpld_devices")
            if isinstance(cards, list) and _is_channel(arguments.get("channel")):
                yield from ((arguments, place) for place, name in enumerate(cards) if self.get(name) is card)


def _urukul(database: _Database, entry: dict) -> tuple[dict, dict]:
    arguments = database.arguments(entry)
    names = {"spi": "spi_device", "io_update": "io_update_device", "sync": "sync_device"}
    lines = {line: arguments.get(name) for line, name in names.items()}
    for channel in database.behind(entry, "cpld_device", "AD9910", "AD9912"):
        select = channel.get("chip_select")
        if isinstance(select, int) and select >= FIRST_DDS:
            lines[f"sw{select - FIRST_DDS}"] = channel.get("sw_device")
    settings: dict = {}
    if database.behind(entry, "cpld_device", "AD9912"):
        settings["dds"] = "ad9912"
    if arguments.get("proto_rev") in REVISIONS:
        settings["proto_rev"] = arguments["proto_rev"]
    reference = arguments.get("refclk")
    if _is_positive(reference):
        # Clock selection of the configuration: bit 0 the SMA connector, else bit 1 the MMCX
        # connector, else the oscillator.
        select = arguments.get("clk_sel", 0)
        source = ("oscillator_hz", "sma_hz", "mmcx_hz", "sma_hz")[select if select in range(4) else 0]
        settings[source] = float(reference)
    channels = database.channels(**lines)
    for servo, place in database.servos(entry):
        # A servo's channels precede it, four per card.
        number = servo["channel"]
        first = number + CHANNELS * (place - len(servo["cpld_devices"]))
        channels |= {f"nu{place}": number} | {f"sw{n}": first + n for n in range(CHANNELS)}
    return channels, settings


def _serial_dac(database: _Database, entry: dict) -> tuple[dict, dict]:
    arguments = database.arguments(entry)
    devices = {"spi": "spi_device", "ldac": "ldac_device", "clr": "clr_device"}
    vref = arguments.get("vref")
    settings = {"vref": float(vref)} if _is_positive(vref) else {}
    return database.channels(**{line: arguments.get(name) for line, name in devices.items()}), settings


def _ad53xx(database: _Database, entry: dict) -> tuple[dict, dict]:
    """Describe a single DAC: the lowest bit of its chip select is its select line on the bus."""
    channels, settings = _serial_dac(database, entry)
    select = database.arguments(entry).get("chip_select", 1)
    if isinstance(select, int) and select > 0:
        settings["select"] = (select & -select).bit_length() - 1
    return channels, settings


def _sampler(database: _Database, entry: dict) -> tuple[dict, dict]:
    arguments = database.arguments(entry)
    devices = {"adc": "spi_adc_device", "pgia": "spi_pgia_device", "cnv": "cnv_device"}
    revision = arguments.get("hw_rev")
    settings = {"hw_rev": revision} if isinstance(revision, str) else {}
    return database.channels(**{line: arguments.get(name) for line, name in devices.items()}), settings


def _servo(database: _Database, entry: dict) -> tuple[dict, dict]:
    """Describe the Sampler of an SU-Servo."""
    arguments = database.arguments(entry)
    revision = arguments.get("sampler_hw_rev")
    settings = {"hw_rev": revision} if isinstance(revision, str) else {}
    channels = database.channels(pgia=arguments.get("pgia_device"))
    return channels | database.own(entry, servo="channel"), settings


def _novogorny(database: _Database, entry: dict) -> tuple[dict, dict]:
    arguments = database.arguments(entry)
    return database.channels(adc=arguments.get("spi_device"), cnv=arguments.get("cnv_device")), {}


def _alone(database: _Database, entry: dict) -> tuple[dict, dict]:
    """Describe a single chip on a bus, without settings."""
    return database.channels(spi=database.arguments(entry).get("spi_device")), {}


def _ad9834(database: _Database, entry: dict) -> tuple[dict, dict]:
    clock = database.arguments(entry).get("clk_freq")
    settings = {"clock_hz": float(clock)} if _is_positive(clock) else {}
    return _alone(database, entry)[0], settings


def _fastino(database: _Database, entry: dict) -> tuple[dict, dict]:
    return database.own(entry, spi="channel"), {}


def _based(database: _Database, entry: dict) -> tuple[dict, dict]:
    return database.own(entry, spi="channel_base"), {}


def _mirny(database: _Database, entry: dict) -> tuple[dict, dict]:
    arguments = database.arguments(entry)
    lines = {"spi": arguments.get("spi_device")}
    for channel in database.behind(entry, "cpld_device", "ADF5356"):
        if channel.get("channel") in range(CHANNELS):
            lines[f"sw{channel['channel']}"] = channel.get("sw_device")
    settings: dict = {}
    reference, select = arguments.get("refclk"), arguments.get("clk_sel")
    if _is_positive(reference):
        # A name stands for a number that depends on the card's revision; the source that the driver
        # selects gets the reference.
        chosen = select if select in range(CHANNELS) else 0
        settings["clocks_hz"] = [float(reference) if n == chosen else 0.0 for n in range(CHANNELS)]
    for kind, revision in ALMAZNY.items():
        if database.behind(entry, "host_mirny", kind):
            settings["almazny"] = revision
    return database.channels(**lines), settings


def _ddsbus(database: _Database, entry: dict) -> tuple[dict, dict]:
    """Describe the bus of AD9914 chips, whose entries agree on it."""
    clock = database.arguments(entry).get("sysclk")
    settings = {"clock_hz": float(clock)} if _is_positive(clock) else {}
    return database.own(entry, bus="bus_channel"), settings


def _beside(database: _Database, name: str, driver: str) -> dict:
    """Return the entry of the device with this driver that belongs to the same card as `name` (a
    device without suffix has the card's name: ``shuttler0`` and ``shuttler0_relay``), or else the
    first one."""
    entries = list(database.drivers(driver))
    own = {name, name.rpartition("_")[0]} - {""}
    near = [entry for other, entry in entries if own & {other, other.rpartition("_")[0]}]
    return (near or [entry for _, entry in entries] or [{}])[0]


def _shuttler(database: _Database, entry: dict) -> tuple[dict, dict] | None:
    """Describe the card of a relay driver or, if that has none, of a settings driver. Its ADC and
    settings are those with the same name prefix, or else the first."""
    (own,) = [name for name, other in database.drivers("Relay", "Config") if other is entry][:1]
    settings, relay = entry, None
    if entry["class"] == "Relay":
        settings, relay = _beside(database, own, "Config"), database.arguments(entry).get("spi_device")
    elif any(_beside(database, name, "Config") is entry for name, _ in database.drivers("Relay")):
        return None
    adc = database.arguments(_beside(database, own, "ADC")).get("spi_device")
    return database.channels(relay=relay, adc=adc) | database.own(settings, config="channel"), {}


DESCRIBED = {
    "AD53xx": _ad53xx,
    "AD9834": _ad9834,
    "AD9914": _ddsbus,
    "Config": _shuttler,
    "CPLD": _urukul,
    "Sampler": _sampler,
    "Fastino": _fastino,
    "Grabber": _based,
    "HMC542B": _alone,
    "Mirny": _mirny,
    "Novogorny": _novogorny,
    "Phaser": _based,
    "Relay": _shuttler,
    "SUServo": _servo,
    "Zotino": _serial_dac,
}
"""By driver class of `kairos.contracts.cards.CARDS`: the function that derives channels and settings from an entry
(None: the entry belongs to the card of another one)."""


def cards(entries: dict) -> list[dict]:
    """Return the cards of a device database with the entries `entries`, in the format of
    ``--cards``."""
    database = _Database(entries)
    found = []
    for name, entry in database.drivers(*CARDS):
        described = DESCRIBED[entry["class"]](database, entry)
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
