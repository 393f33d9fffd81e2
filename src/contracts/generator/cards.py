"""Cards: their drivers, chips and channels, for the host library, the gateware and the bench.

Each file of src/contracts/cards is a card, or another kind of hardware behind channels; its name is the kind:

    doc         what it is
    model       whether the bench has a model of it; absent: single pins, or logic without a card
    [devices]   driver classes of a device database: module; role (`card`: its entry stands for the card, `chip`: for a
                chip on it, `pin`: for a single pin); place: the arguments that name the bus or card, and the chip on
                it; scope: its messages are described on the scope's page
    [channels]  kinds of RTIO channels (descriptor.toml) with a driver: the classes, of which the channel's parameter
                `selector` selects one; the argument for the channel's number (by default `channel`); parameters of the
                channel that are arguments; described: its entry needs more than the channel knows
"""

import tomllib
from pathlib import Path

from .facts import FactError, Subject
from .rust import text

__all__ = ["files"]

FOLDER = "src/contracts/cards"
KEYS = {"doc", "model", "devices", "channels"}
DEVICE_KEYS = {"module", "role", "place", "scope"}
CHANNEL_KEYS = {"drivers", "selector", "argument", "parameters", "described"}
ROLES = ("card", "chip", "pin")
NOTICE = "Generated from src/contracts/cards/*.toml by src/contracts/generate.py: do not edit."


def files(subjects: dict[str, Subject], root: Path) -> dict[str, str]:
    """Text of each generated file by its path. FactError if a card is not as it should be."""
    cards = {path.stem: _card(path) for path in sorted((root / FOLDER).glob("*.toml"))}
    (enum,) = (enum for enum in subjects["descriptor"].enums if enum.name == "ChannelKind")
    kinds = {member.name for member in enum.members}
    for name, card in cards.items():
        if unknown := card.get("channels", {}).keys() - kinds:
            raise FactError(f"cards/{name}.toml: descriptor.toml has no kind of channels {', '.join(sorted(unknown))}")
    channels = _channels(cards)
    return {
        "src/kairos/contracts/cards.py": "\n".join(
            [*_head("Cards and their drivers."), *_python(cards), *channels, ""]
        ),
        "src/gateware/kairos_gateware/contracts/cards.py": "\n".join(
            [*_head("Drivers of channels."), *_exports(["CHANNEL_DRIVERS"]), *channels, ""]
        ),
        "src/contracts/src/cards.rs": _rust(cards),
    }


def _card(path: Path) -> dict:
    card = tomllib.loads(path.read_text())
    where = f"cards/{path.name}"
    if "doc" not in card or (unknown := card.keys() - KEYS):
        raise FactError(f"{where}: it needs a doc, and has {', '.join(sorted(unknown)) or 'none'}")
    for cls, device in card.get("devices", {}).items():
        if device.keys() - DEVICE_KEYS or device.get("role") not in ROLES or "module" not in device:
            raise FactError(f"{where}, {cls}: it needs a module and a role ({', '.join(ROLES)})")
    for kind, channel in card.get("channels", {}).items():
        if channel.keys() - CHANNEL_KEYS or not channel.get("drivers"):
            raise FactError(f"{where}, {kind}: it needs drivers; known are {', '.join(sorted(CHANNEL_KEYS))}")
        if len({driver.split(".")[0] for driver in channel["drivers"]}) > 1:
            raise FactError(f"{where}, {kind}: its drivers are of several modules")
    return card


def _head(doc: str) -> list[str]:
    return [f'"""{doc}', "", NOTICE, '"""', ""]


def _exports(names: list[str]) -> list[str]:
    return [f"__all__ = [{', '.join(text(name) for name in sorted(names))}]", ""]


def _tuple(values) -> str:
    inner = ", ".join(text(value) for value in values)
    return f"({inner}{',' * (len(values) == 1)})"


def _devices(cards: dict[str, dict]):
    for kind, card in cards.items():
        for cls, device in card.get("devices", {}).items():
            yield kind, card, cls, device


def _python(cards: dict[str, dict]) -> list[str]:
    modelled = [(cls, kind) for kind, card, cls, d in _devices(cards) if card.get("model") and d["role"] == "card"]
    places = [(cls, device["place"]) for _, _, cls, device in _devices(cards) if "place" in device]
    scope = [cls for _, _, cls, device in _devices(cards) if device.get("scope")]
    pins = [cls for _, _, cls, device in _devices(cards) if device["role"] == "pin"]
    without = [cls for _, card, cls, _ in _devices(cards) if card.get("model") is False]
    lines = _exports(["CARDS", "CHANNEL_DRIVERS", "IN_SCOPE", "PINS", "PLACES", "WITHOUT_MODEL"])
    lines += ["CARDS = {", *[f"    {text(cls)}: {text(kind)}," for cls, kind in modelled], "}"]
    lines += ['"""Kinds of the cards with a model, by the driver class of the entry that stands for one."""', ""]
    lines += ["PLACES = {"]
    lines += [f"    {text(cls)}: ({text(place[0])}, {text(place[1]) if place[1:] else None})," for cls, place in places]
    lines += [
        "}",
        '"""Driver classes of chips: the arguments that name the card or bus, and the chip on it (None: the only',
    ]
    lines += ['one)."""', ""]
    for name, classes, doc in (
        ("PINS", pins, "Driver classes of single pins."),
        ("WITHOUT_MODEL", without, "Driver classes of cards without a model."),
        ("IN_SCOPE", scope, "Driver classes whose messages are described on the scope's page."),
    ):
        short = f"{name} = {_tuple(classes)}"
        long = [f"{name} = (", *[f"    {text(cls)}," for cls in classes], ")"]
        lines += [*([short] if len(classes) == 1 else long), f'"""{doc}"""', ""]
    return lines


def _channels(cards: dict[str, dict]) -> list[str]:
    lines = ["CHANNEL_DRIVERS = {"]
    for card in cards.values():
        for kind, channel in card.get("channels", {}).items():
            module = channel["drivers"][0].split(".")[0]
            classes = _tuple([driver.split(".")[1] for driver in channel["drivers"]])
            argument, parameters = channel.get("argument", "channel"), _tuple(channel.get("parameters", []))
            lines += [
                f"    {text(kind)}: {{",
                f'        "module": {text(module)},',
                f'        "classes": {classes},',
                f'        "selector": {text(channel.get("selector", ""))},',
                f'        "argument": {text(argument)},',
                f'        "parameters": {parameters},',
                f'        "described": {channel.get("described", False)},',
                "    },",
            ]
    return [
        *lines,
        "}",
        '"""Drivers by kind of channel: module and classes of the core device\'s drivers, the parameter that selects a',
        "class (by default the first), the argument for the channel's number, parameters that are arguments, and",
        'whether the entry needs more than the channel knows."""',
    ]


def _rust(cards: dict[str, dict]) -> str:
    kinds = [kind for kind, card in cards.items() if card.get("model")]
    lines = [
        "//! Cards.",
        "//!",
        "//! Generated from `src/contracts/cards/*.toml` by `src/contracts/generate.py`: do not edit.",
        "",
        "/// Kinds of cards with models; a card's name begins with its kind.",
        f"pub const KINDS: [&str; {len(kinds)}] = [",
        *[f"    {text(kind)}," for kind in kinds],
        "];",
        "",
    ]
    return "\n".join(lines)
