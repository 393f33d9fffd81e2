"""Device database of a gateware, generated from its descriptor.

A gateware knows its channels, but not the hardware connected to them: for cards on a bus (Urukul,
Sampler, …) it has the bus and the pins, and their entries come from the system description of the
laboratory.
"""

import pprint

from ..contracts.cards import CHANNEL_DRIVERS
from ..contracts.descriptor import ChannelKind

__all__ = ["DRIVERS", "database", "render"]

DRIVERS = {ChannelKind[kind.upper()]: driver for kind, driver in CHANNEL_DRIVERS.items() if not driver["described"]}
"""Drivers by channel kind (`kairos.contracts.cards.CHANNEL_DRIVERS`)."""


def _driver(module: str, cls: str, **arguments) -> dict:
    return {"type": "local", "module": f"artiq.coredevice.{module}", "class": cls, "arguments": arguments}


def database(host: str, clock: tuple[int, int] | None, boards: list[tuple[int, list]]) -> dict:
    """Return the entries for the device at `host`. clock: frequency in Hz and fine bits; boards:
    destination and channels of each, in the format of `Management.descriptor`. If two channels have
    the same name, the destination is appended to that of the more distant board.
    """
    frequency, fine_bits = clock or (125_000_000, 3)
    multiplier = 1 << fine_bits
    core = {"host": host, "ref_period": 1 / (frequency * multiplier), "ref_multiplier": multiplier}
    entries = {
        "core": _driver("core", "Core", **core, target="cortexa9"),
        "core_dma": _driver("dma", "CoreDMA"),
        "core_cache": _driver("cache", "CoreCache"),
    }
    places: set[int] = set()
    for destination, channels in boards:
        for number, kind, name, parameters in channels:
            # A master built together with its satellites lists their channels itself.
            place = destination << 16 | number
            if kind not in DRIVERS or place in places:
                continue
            places.add(place)
            driver = DRIVERS[kind]
            cls = driver["classes"][dict(parameters).get(driver["selector"], 0)]
            arguments = {key: value for key, value in parameters if key in driver["parameters"]}
            unique = name if name not in entries else f"{name}_{destination}"
            entries[unique] = _driver(driver["module"], cls, **{driver["argument"]: place}, **arguments)
    return entries


def render(entries: dict, variant: str, without_driver: list[str]) -> str:
    """Text of the file. without_driver: names of channels that have no entry."""
    text = f"# Device database of gateware {variant}, generated from the descriptor of the device.\n"
    if without_driver:
        text += f"# Without an entry, since their drivers need more than that: {', '.join(without_driver)}\n"
    text += "# Cards on the buses are not known to it: their entries come from a system description.\n\n"
    return f"{text}device_db = {pprint.pformat(entries, sort_dicts=False, width=100)}\n"
