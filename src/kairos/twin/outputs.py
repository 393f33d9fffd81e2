"""Tones and voltages of the bench by name: of an output as in a bench file (``urukul0.ch1``), or of the device whose
driver sets it (``urukul0_ch1``; an alias; with the name of a card's device: ``electrodes.ch7``)."""

from typing import NamedTuple

from ..contracts.cards import CARDS, PLACES, WIRING
from ..devices import DeviceDB
from ..emulator.cards import cards

__all__ = ["Output", "find", "known"]

SHOWN = 8
"""Names in a message."""
OWN = {line for driver in PLACES for line in WIRING.get(driver, {}).get("lines", {})}
"""Lines of a card of which each chip has its own, with its number."""


class Output(NamedTuple):
    """An output of a part of the bench."""

    part: str
    number: int
    """Among the part's outputs, tones before voltages."""
    channels: list[int]
    """RTIO channels of the card, but for the lines of its other outputs."""


def find(plan: dict, ddb: DeviceDB, kind: str, name: str) -> Output | None:
    """Return the output of this name; None: there is none. `plan`: of the bench; `kind`: tones or volts."""
    for part, said in _candidates(plan, ddb, name):
        number = _number(part, kind, said)
        if number is not None:
            return Output(part["name"], number, _channels(part, ddb, number))
    return None


def known(plan: dict, ddb: DeviceDB, kind: str) -> str:
    """Return what has such outputs, as text: parts, and devices that set one of them."""
    parts = [part["name"] for part in plan.get("parts", ()) if part[kind]]
    devices = [name for name in ddb.entries if name not in parts and find(plan, ddb, kind, name)]
    shown = [*parts, *devices]
    return ", ".join(shown[:SHOWN] + ["…"] * (len(shown) > SHOWN)) or "none"


def _candidates(plan: dict, ddb: DeviceDB, name: str):
    """Yield parts that may be meant, each with what the name says of the output: a name, or a number."""
    parts = plan.get("parts", ())
    card, _, said = name.rpartition(".")
    if card:
        device = _resolved(ddb, card)
        yield from ((part, said) for part in parts if part["name"] == card)
        yield from ((part, said) for part in parts if part["device"] is not None and part["device"] == device)
        return
    device = _resolved(ddb, name)
    if device is None:
        return
    entry = ddb.entries[device]
    arguments = ddb.arguments(device)
    place, number = PLACES.get(entry.get("class"), (None, None))
    on = arguments.get(place)
    for part in parts:
        if part["device"] == device:
            yield part, None
        elif place is not None and part["device"] is not None and _is_on(ddb, part["device"], place, on):
            yield part, None if number is None else _place(arguments.get(number), entry["class"])


def _is_on(ddb: DeviceDB, card: str, place: str, on) -> bool:
    """Return whether the argument `place` of a chip's driver, `on`, names a card; or a bus that the card shares."""
    if isinstance(on, str) and _resolved(ddb, on) == card:
        return True
    return ddb.entries[card].get("class") in CARDS and on is not None and ddb.arguments(card).get(place) == on


def _place(number, driver: str) -> int | None:
    first = WIRING.get(driver, {}).get("first", 0)
    return number - first if isinstance(number, int) else None


def _number(part: dict, kind: str, said: str | int | None) -> int | None:
    first, count = (part["tones"] if kind == "volts" else 0), part[kind]
    if said is None:
        number = first if count == 1 else None
    elif isinstance(said, int):
        number = first + said
    else:
        number = part["names"].get(said)
        if number is None and said.removeprefix("ch").isdecimal():
            number = first + int(said.removeprefix("ch"))
    return number if number is not None and first <= number < first + count else None


def _channels(part: dict, ddb: DeviceDB, number: int) -> list[int]:
    """Return the RTIO channels of a part, but for those of its other outputs (switches of an Urukul)."""
    card = next((each for each in cards(ddb.entries) if each["device"] == part["device"]), None)
    lines = {} if card is None else card["channels"]
    others = {f"{line}{other}" for line in OWN for other in range(part["tones"] + part["volts"]) if other != number}
    return [channel for line, channel in lines.items() if line not in others]


def _resolved(ddb: DeviceDB, name: str) -> str | None:
    """Return the entry that a name or alias stands for."""
    seen: set[str] = set()
    while isinstance(name, str) and name in ddb.entries and name not in seen:
        seen.add(name)
        if isinstance(ddb.entries[name], dict):
            return name
        name = ddb.entries[name]
    return None
