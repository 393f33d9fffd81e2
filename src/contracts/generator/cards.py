"""Cards: their drivers, chips, channels and models, for the host library, the gateware, the bench and the manual.

Each file of src/contracts/cards is a card, or another kind of hardware behind channels; its name is the kind:

    name, doc   for readers
    model       true: the bench has a model of it, `Section` in src/bench/src/chips/KIND.rs; or the section of a bench
                file whose parts are wired to it; false: none; absent: single pins, or logic without a card
    count       the number of its channels
    waveforms   true: the device makes its waveforms; the card has no pins for them
    measures    true: its inputs measure voltages
    [[models]]  rows of the table in docs/bench.md: what is modelled, what is omitted; part: which part of the card
    [devices]   driver classes of a device database, by name:
        module      of the core device's drivers
        role        `card`: its entry stands for the card, `chip`: for a chip on it, `pin`: for a single pin
        place       the arguments that name the bus or card, and the chip on it
        lines       of the model: the argument that names the device whose channel has the line; of a chip, the chip's
                    number follows the name, counted from `first`
        channels    of the model: the argument that is the number of the channel
        settings    of the model, in the format of a bench file: the argument, and its type (`number`: greater than 0,
                    `text`) or its valid values
        attached    lines of other cards at this one's channel: the beginning of their functions, which a number
                    follows, and the other cards' kind
        implies     settings of the card if it has this chip
        derived     the function of src/kairos/emulator/cards.py that completes lines and settings
        scope       the chip, for the description of its messages on the scope's page: a module of
                    src/kairos/scope/chips, or else only the chip's registers (src/contracts/chips)
        bus         the argument that names the bus, if it is not `spi_device`
        selects     chip selects, if they are not an argument, with the suffix of the device's name
    [channels]  kinds of RTIO channels (descriptor.toml) with a driver: the classes, of which the channel's parameter
                `selector` selects one; the argument for the channel's number (by default `channel`); parameters of the
                channel that are arguments; described: its entry needs more than the channel knows

A number may be a constant of a chip: `urukul.CS_CFG`.
"""

import tomllib
from pathlib import Path
from textwrap import fill

from . import chips
from .facts import FactError, Subject
from .rust import text

__all__ = ["files", "models"]

FOLDER = "src/contracts/cards"
KEYS = {"name", "doc", "model", "count", "waveforms", "measures", "models", "devices", "channels"}
WIRING_KEYS = ("lines", "channels", "settings", "implies", "first", "derived")
SCOPE_KEYS = ("scope", "bus", "selects")
DEVICE_KEYS = {"module", "role", "place", "attached", *WIRING_KEYS, *SCOPE_KEYS}
CHANNEL_KEYS = {"drivers", "selector", "argument", "parameters", "described"}
SETTING_TYPES = ("number", "text")
ROLES = ("card", "chip", "pin")
NOTICE = "Generated from src/contracts/cards/*.toml by src/contracts/generate.py: do not edit."


def files(subjects: dict[str, Subject], root: Path) -> dict[str, str]:
    """Text of each generated file by its path. FactError if a card is not as it should be."""
    cards = _load(root)
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


def models(root: Path) -> list[tuple]:
    """The rows of the table of models in docs/bench.md, with its head."""
    rows = [("Part", "Modelled", "Not modelled")]
    for kind, card in _load(root).items():
        for model in card.get("models", []):
            rows.append((model.get("part", f"`{kind}`"), model["modelled"], model.get("omitted", "")))
    return rows


def _load(root: Path) -> dict[str, dict]:
    constants = {
        f"{chip.file}.{name}": constant.value
        for chip in chips.load(root / "src" / "contracts" / "chips")
        for name, constant in chip.constants.items()
    }
    return {path.stem: _card(path, constants) for path in sorted((root / FOLDER).glob("*.toml"))}


def _card(path: Path, constants: dict[str, int]) -> dict:
    card = tomllib.loads(path.read_text())
    where = f"cards/{path.name}"
    if missing := {"name", "doc"} - card.keys():
        raise FactError(f"{where}: {', '.join(sorted(missing))} is missing")
    if unknown := card.keys() - KEYS:
        raise FactError(f"{where}: unknown: {', '.join(sorted(unknown))}")
    if (card.get("model") is True) != ("models" in card):
        raise FactError(f"{where}: [[models]] says what the bench's model of a card does")
    for cls, device in card.get("devices", {}).items():
        _check_device(f"{where}, {cls}", device)
        for key in ("first", "selects"):
            if key in device:
                device[key] = _numbers(f"{where}, {cls}", device[key], constants)
    for kind, channel in card.get("channels", {}).items():
        if channel.keys() - CHANNEL_KEYS or not channel.get("drivers"):
            raise FactError(f"{where}, {kind}: it needs drivers; known are {', '.join(sorted(CHANNEL_KEYS))}")
        if len({driver.split(".")[0] for driver in channel["drivers"]}) > 1:
            raise FactError(f"{where}, {kind}: its drivers are of several modules")
    return card


def _check_device(where: str, device: dict):
    if device.keys() - DEVICE_KEYS or device.get("role") not in ROLES or "module" not in device:
        raise FactError(f"{where}: it needs a module and a role ({', '.join(ROLES)})")
    if device["role"] == "chip" and not device.get("place") and {"lines", "implies"} & device.keys():
        raise FactError(f"{where}: without a place it is not known whose lines and settings these are")
    for name, setting in device.get("settings", {}).items():
        if "argument" not in setting or not (setting.get("type") in SETTING_TYPES or setting.get("values")):
            raise FactError(f"{where}, {name}: it needs an argument, and a type ({', '.join(SETTING_TYPES)}) or values")


def _numbers(where: str, given, constants: dict[str, int]):
    """Replace constants of chips, in the keys of a table or alone."""
    if isinstance(given, dict):
        return {_numbers(where, key, constants): value for key, value in given.items()}
    if isinstance(given, int) or given.isdecimal():
        return int(given)
    if given not in constants:
        raise FactError(f"{where}: there is no constant {given} of a chip")
    return constants[given]


def _head(doc: str) -> list[str]:
    return [f'"""{doc}', "", NOTICE, '"""', ""]


def _exports(names: list[str]) -> list[str]:
    line = f"__all__ = [{', '.join(text(name) for name in sorted(names))}]"
    if len(line) <= 120:
        return [line, ""]
    return ["__all__ = [", *[f"    {text(name)}," for name in sorted(names)], "]", ""]


def _tuple(values) -> str:
    inner = ", ".join(map(_literal, values))
    return f"({inner}{',' * (len(values) == 1)})"


def _literal(value, indent: str = "") -> str:
    """A value in Python; a table has a line for each entry."""
    if isinstance(value, dict) and value:
        inner = indent + "    "
        lines = [f"{inner}{_literal(key)}: {_literal(entry, inner)}," for key, entry in value.items()]
        return "\n".join(["{", *lines, indent + "}"])
    if isinstance(value, list | tuple):
        return _tuple(value)
    return text(value) if isinstance(value, str) else repr(value)


def _devices(cards: dict[str, dict]):
    for kind, card in cards.items():
        for cls, device in card.get("devices", {}).items():
            yield kind, card, cls, device


def _wiring(device: dict) -> dict:
    settings = {
        name: (setting["argument"], setting.get("type", tuple(setting.get("values", ()))))
        for name, setting in device.get("settings", {}).items()
    }
    entries = {
        "lines": device.get("lines", {}),
        "channels": device.get("channels", {}),
        "settings": settings,
        "implies": device.get("implies", {}),
        "first": device.get("first", 0),
        "derived": device.get("derived", ""),
    }
    return {key: value for key, value in entries.items() if value}


def _scope(card: dict, device: dict) -> dict:
    cards = [other["module"] + "." + cls for cls, other in card["devices"].items() if other["role"] == "card"]
    return {
        "driver": device["module"],
        "card": cards[0] if device["role"] == "chip" else "",
        "chip": device["scope"],
        "bus": device.get("bus", "spi_device"),
        "selects": device.get("selects", {}),
    }


def _python(cards: dict[str, dict]) -> list[str]:
    tables = {
        "CARDS": (
            {cls: kind for kind, card, cls, d in _devices(cards) if card.get("model") and d["role"] == "card"},
            "Kinds of the cards with a model, by the driver class of the entry that stands for one.",
        ),
        "COUNTS": (
            {kind: card["count"] for kind, card in cards.items() if "count" in card},
            "Numbers of channels, by kinds of cards.",
        ),
        "PLACES": (
            {cls: (*device["place"], None)[:2] for _, _, cls, device in _devices(cards) if "place" in device},
            "Driver classes of chips: the arguments that name the card or bus, and the chip on it (None: the only "
            "one).",
        ),
        "WIRING": (
            {cls: wiring for _, _, cls, device in _devices(cards) if (wiring := _wiring(device))},
            "By driver class: lines of the model, with the argument that names the device whose channel has them; its "
            "channels, with the argument that is their number; its settings, with argument and type or valid values; "
            "settings that a chip implies; the number of a card's first chip; the function that completes all this.",
        ),
        "SCOPE": (
            {cls: _scope(card, device) for _, card, cls, device in _devices(cards) if "scope" in device},
            "Driver classes whose messages are described on the scope's page: the driver's module; of a chip on a card "
            "the card's driver; the chip; the argument that names the bus; chip selects that are not arguments, with "
            "the suffix of the device's name.",
        ),
    }
    pins = [cls for _, _, cls, device in _devices(cards) if device["role"] == "pin"]
    without = [cls for _, card, cls, _ in _devices(cards) if card.get("model") is False]
    measuring = [card["name"] for card in cards.values() if card.get("measures")]
    lines = _exports([*tables, "CHANNEL_DRIVERS", "MEASURING", "PINS", "WITHOUT_MODEL"])
    for name, (table, doc) in tables.items():
        lines += [f"{name} = {_literal(table)}", fill(f'"""{doc}"""', 120), ""]
    for name, classes, doc in (
        ("MEASURING", measuring, "Cards whose inputs measure voltages."),
        ("PINS", pins, "Driver classes of single pins."),
        ("WITHOUT_MODEL", without, "Driver classes of cards without a model."),
    ):
        lines += [f"{name} = {_tuple(classes)}", f'"""{doc}"""', ""]
    return lines


def _channels(cards: dict[str, dict]) -> list[str]:
    table = {
        kind: {
            "module": channel["drivers"][0].split(".")[0],
            "classes": tuple(driver.split(".")[1] for driver in channel["drivers"]),
            "selector": channel.get("selector", ""),
            "argument": channel.get("argument", "channel"),
            "parameters": tuple(channel.get("parameters", ())),
            "described": channel.get("described", False),
        }
        for card in cards.values()
        for kind, channel in card.get("channels", {}).items()
    }
    return [
        f"CHANNEL_DRIVERS = {_literal(table)}",
        '"""Drivers by kind of channel: module and classes of the core device\'s drivers, the parameter that selects a',
        "class (by default the first), the argument for the channel's number, parameters that are arguments, and",
        'whether the entry needs more than the channel knows."""',
    ]


def _rust(cards: dict[str, dict]) -> str:
    kinds = [kind for kind, card in cards.items() if card.get("model")]
    sections = [(kind, card["name"]) for kind, card in cards.items() if card.get("model") is True]
    shared = [
        kind
        for kind, _, _, device in _devices(cards)
        if device["role"] == "card" and device.get("place", [])[:1] == ["spi_device"] and len(device["place"]) == 2
    ]
    waveforms = [kind for kind, card in cards.items() if card.get("waveforms")]
    attached = [pair for _, _, _, device in _devices(cards) for pair in device.get("attached", {}).items()]
    lines = [
        "//! Cards.",
        "//!",
        "//! Generated from `src/contracts/cards/*.toml` by `src/contracts/generate.py`: do not edit.",
        "",
        "/// Kinds of cards with models; a card's name begins with its kind.",
        f"pub const KINDS: [&str; {len(kinds)}] = [",
        *[f"    {text(kind)}," for kind in kinds],
        "];",
        "/// Kinds of which several can share a bus, each with a chip select.",
        f"pub const SHARING: [&str; {len(shared)}] = [{', '.join(map(text, shared))}];",
        "/// Kinds whose waveforms the device makes.",
        f"pub const WAVEFORMS: [&str; {len(waveforms)}] = [{', '.join(map(text, waveforms))}];",
        "/// Lines of a card at the channel of another one: the beginning of their functions, and the card's kind.",
        f"pub const ATTACHED: [(&str, &str); {len(attached)}] = "
        f"[{', '.join(f'({text(function)}, {text(kind)})' for function, kind in attached)}];",
        "",
        "/// Calls a macro with the kinds of cards that have a section in a bench file, and their names for readers.",
        "#[macro_export]",
        "macro_rules! with_card_models {",
        "    ($call:ident) => {",
        "        $call! {",
        *[f"            {kind} {text(name)}," for kind, name in sections],
        "        }",
        "    };",
        "}",
        "",
    ]
    return "\n".join(lines)
