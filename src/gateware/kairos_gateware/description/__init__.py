"""System descriptions: JSON files that assign cards to ports, in the format that ARTIQ's tools use.

`load` reads and checks a file (`schema.json`; every error includes its location), `make_variant`
converts it to channels and device database entries. Types of cards: `peripherals.py`; those that are
boards of their own: `card_boards.py`. The description of a board with others behind it names their descriptions.
"""

import json
from functools import cache
from pathlib import Path

from ..contracts.rtio import BOARDS
from ..variant import RTIO_FREQUENCY, ChannelSpec, Variant
from .bridges import make_bridge, why_not_shown
from .card_boards import CARD_BOARDS
from .cross_links import Place, why_not, why_not_in_tree
from .peripherals import PERIPHERALS, PINS, Builder

__all__ = ["DescriptionError", "load", "check", "make_variant"]

# Every card may have these; they have no effect
_CARD = {"type": {"type": "string"}, "board": {"type": "string"}, "hw_rev": {"type": "string"}}


_FILE_MAX = 1 << 20
"""Maximum size of a description in bytes."""
_PARTS_MAX = 100
"""Maximum number of a board's cards, and of the boards behind it: no board has the connectors for more."""
_MESSAGE_MAX = 300
"""Characters of a message, which may contain a value of the file."""


class DescriptionError(ValueError):
    """The description is unusable; one line, with the location in the file."""


_TARGETS = {card.target for card in CARD_BOARDS.values()}
"""Boards of cards."""


@cache
def _schema() -> dict:
    return json.loads((Path(__file__).parent / "schema.json").read_text())


def _resolved(schema: dict) -> dict:
    """A part of the schema, or what it refers to."""
    while (name := schema.get("$ref")) is not None:
        schema = _schema()["$defs"][name.removeprefix("#/$defs/")]
    return schema


def _fill(value, schema: dict) -> None:
    """Fills in the schema's defaults for missing values."""
    schema = _resolved(schema)
    if isinstance(value, dict):
        for name, part in schema.get("properties", {}).items():
            if name not in value and "default" in part:
                value[name] = json.loads(json.dumps(part["default"]))
            if name in value:
                _fill(value[name], part)
    elif isinstance(value, list):
        for item in value:
            _fill(item, schema.get("items", {}))


def _validate(value, schema: dict, place: str, source: str) -> None:
    # Imported here so that variants without a description do not need the library
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(schema).iter_errors(value))
    if error is not None:
        path = place + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path)
        message = error.message
        if len(message) > _MESSAGE_MAX:
            message = f"{message[: _MESSAGE_MAX // 2]} ... {message[-_MESSAGE_MAX // 2 :]}"
        raise DescriptionError(f"{source}: {path.lstrip('.') or 'top level'}: {message}")
    _fill(value, schema)


def check(description: dict, source: str = "description") -> dict:
    """The description with all defaults filled in. Raises `DescriptionError`."""
    description = json.loads(json.dumps(description))
    schema = _schema()
    for name in ("peripherals", "satellites") if isinstance(description, dict) else ():
        if isinstance(given := description.get(name), list) and len(given) > _PARTS_MAX:
            raise DescriptionError(f"{source}: {name}: there are {len(given)}, {_PARTS_MAX} are possible")
    _validate(description, schema, "", source)
    for i, card in enumerate(description["peripherals"]):
        kind = card["type"]
        place = f"peripherals[{i}]"
        if kind not in PERIPHERALS and kind not in CARD_BOARDS:
            known = ", ".join(sorted({*PERIPHERALS, *CARD_BOARDS}))
            raise DescriptionError(f"{source}: {place}: cards of type {kind!r} are not supported (only {known})")
        part = _resolved(schema["$defs"][kind])
        part = {**part, "properties": {**_CARD, **part["properties"]}, "additionalProperties": False, "type": "object"}
        _validate(card, part | {"$defs": schema["$defs"]}, f"{place} ({kind})", source)
        if "rois" in card and "roi_engine_count" in card:
            raise DescriptionError(f"{source}: {place} ({kind}): give roi_engine_count or rois, not both")
        _check_pins(card, f"{source}: {place} ({kind}).pins")
    _check_ports(description["peripherals"], source)
    _check_target(description, source)
    role = _role(description)
    _check_cages(description, role, source)
    _check_card_boards(description, role, source)
    if role == "standalone" and description["satellites"]:
        raise DescriptionError(f"{source}: satellites: only a core device with role 'master' or 'satellite' has any")
    if role == "master" and not description["satellites"] and not _card_boards(description):
        raise DescriptionError(
            f"{source}: a master's gateware numbers the boards behind it: give their descriptions, one for each link, "
            'as "satellites": [FILE, …]'
        )
    for name in ("remote_memory", "bridge"):
        if role != "satellite" and description.get(name, False) is not False:
            raise DescriptionError(
                f"{source}: {name}: it is over the upstream link, so it stands in the description of a "
                "satellite; the upstream board gets its end by that"
            )
    if "block" in description and role == "standalone":
        raise DescriptionError(f"{source}: block: it is for other boards, so its board is a master or a satellite")
    if description["remote_memory"] and "bridge" in description:
        raise DescriptionError(f"{source}: bridge: the upstream link has remote memory or a bridge, not both")
    if "bridge" in description and (why := why_not_shown(description["bridge"])):
        raise DescriptionError(f"{source}: bridge.{why}")
    behind = len(description["satellites"]) + len(_card_boards(description))
    if why := why_not(description["cross_links"], role, behind):
        raise DescriptionError(f"{source}: cross_links: {why}")
    for i, card in enumerate(description["peripherals"]):
        if card["type"] == "urukul" and card["dds"] == "ad9912" and card["synchronization"]:
            raise DescriptionError(
                f"{source}: peripherals[{i}] (urukul).synchronization: AD9912s have none, and a clock there resets them"
            )
    if description["rtio_frequency"] != RTIO_FREQUENCY:
        raise DescriptionError(
            f"{source}: rtio_frequency {description['rtio_frequency']:g} is not supported, only {RTIO_FREQUENCY:g}"
        )
    return description


def _check_target(description: dict, source: str) -> None:
    """Whether the board has the connectors of the cards."""
    cards = description["peripherals"]
    cores = [(i, card) for i, card in enumerate(cards) if card["type"] == "pulse"]
    if description["target"] == "zc706" and (len(cores) < len(cards) or any(card["ports"] for _, card in cores)):
        raise DescriptionError(f"{source}: peripherals: a zc706 has no connectors for cards, only pulse cores without")
    for i, card in cores:
        place, channels = f"{source}: peripherals[{i}] (pulse)", card["channels"]
        needed = -(-channels // 2)
        if card["ports"] and len(card["ports"]) != needed:
            raise DescriptionError(f"{place}.ports: {channels} channels have levels on {needed} ports, or on none")
        if card["converters"] and description["target"] != "zc706":
            raise DescriptionError(f"{place}.converters: only a zc706 has connectors for converter cards")
        if card["quadrature"] and len(card["converters"]) != 2:
            raise DescriptionError(f"{place}.quadrature: both parts of a channel need two converters")
        if len(card["converters"]) > channels and not card["quadrature"]:
            raise DescriptionError(f"{place}.converters: there are more than channels")
    if sum(bool(card["converters"]) for _, card in cores) > 1 or any(card["converters"] for _, card in cores[1:]):
        raise DescriptionError(f"{source}: peripherals: converter cards are those of the first pulse core")


def _role(description: dict) -> str:
    base = description["base"]
    if base in CARD_BOARDS:
        return "satellite"
    return base if base != "use_drtio_role" else description["drtio_role"]


def _card_boards(description: dict) -> list[dict]:
    """The cards that are boards of their own."""
    return [card for card in description["peripherals"] if card["type"] in CARD_BOARDS]


def _drtio(description: dict) -> bool:
    """Whether a card's gateware is its maker's."""
    return description.get("gateware") == "maker"


def _target(base: str) -> str | None:
    """The board of a card, by the base; None: it is not that of a card."""
    return CARD_BOARDS[base].target if base in CARD_BOARDS else None


def _check_card_boards(description: dict, role: str, source: str) -> None:
    base, known = description["base"], ", ".join(CARD_BOARDS)
    if _target(base) != (description["target"] if description["target"] in _TARGETS else None):
        raise DescriptionError(
            f"{source}: base: an efc or a phaser, and nothing else, has the base of a card ({known})"
        )
    if base in CARD_BOARDS and (description["peripherals"] or description["satellites"]):
        raise DescriptionError(f"{source}: a {base} has neither peripherals nor satellites")
    if base not in CARD_BOARDS and "gateware" in description:
        raise DescriptionError(f"{source}: gateware: only the board of a card has one that is not this project's")
    if role == "satellite" and (cards := [card for card in _card_boards(description) if _drtio(card)]):
        raise DescriptionError(
            f"{source}: peripherals: a {cards[0]['type']} with its maker's gateware is at the board with the network"
        )
    for name in ("remote_memory", "bridge", "block", "cross_links"):
        if base in CARD_BOARDS and description.get(name, False) not in (False, []):
            raise DescriptionError(f"{source}: {name}: a {base} has none")
    if role == "standalone" and (cards := _card_boards(description)):
        raise DescriptionError(
            f"{source}: peripherals: a {cards[0]['type']} is a board of its own behind a link, which only a core "
            "device with role 'master' or 'satellite' has"
        )


def _check_cages(description: dict, role: str, source: str) -> None:
    """Whether each camera has a cage of its own, behind those of the links."""
    links = (role == "satellite") + len(description["satellites"]) + len(description["cross_links"])
    used = {cage: "a link to another board" for cage in range(links)}
    for i, card in enumerate(description["peripherals"]):
        if card["type"] == "coaxpress_sfp":
            cage, place = card["sfp"], f"peripherals[{i}]"
            if cage in used:
                raise DescriptionError(f"{source}: {place} (coaxpress_sfp).sfp: cage {cage} has {used[cage]}")
            used[cage] = f"the camera of {place}"


def _check_pins(card: dict, place: str) -> None:
    changed = card.get("pins", {})
    signals = PINS.get(card["type"], {})
    for name in changed:
        if name not in signals:
            raise DescriptionError(f"{place}: {name!r} is not a signal of the card (those are {', '.join(signals)})")
    places = signals | changed
    used = {}
    for name, pair in places.items():
        if pair in used:
            raise DescriptionError(f"{place}: {used[pair]} and {name} are both on pair {pair}")
        used[pair] = name


def _ports(card: dict):
    """All ports of a card: its `ports`, or those of an assembly's parts (`sampler_ports`...),
    possibly in pairs."""
    for key, value in card.items():
        if key.endswith("ports"):
            for port in value:
                yield from port if isinstance(port, list) else [port]


def _check_ports(cards: list[dict], source: str) -> None:
    used = {}
    for i, card in enumerate(cards):
        for port in _ports(card):
            if port in used:
                raise DescriptionError(
                    f"{source}: peripherals[{i}] ({card['type']}): port {port} is already used by "
                    f"peripherals[{used[port]}] ({cards[used[port]]['type']})"
                )
            used[port] = i


def load(path: Path) -> dict:
    """Reads a description from a file and checks it. Replaces the names of satellites'
    descriptions, which are relative to the file, by the descriptions. Raises `DescriptionError`, or
    OSError if one cannot be read."""
    return _load(Path(path), ())


def _behind(description: dict) -> int:
    """The number of boards behind that of a loaded description."""
    return len(_card_boards(description)) + sum(1 + _behind(satellite) for satellite in description["satellites"])


def _places(description: dict, upstream: int | None = None, own: int = 0):
    """The places of a loaded description's board and of those behind it, by destination."""
    yield Place(description["variant"], upstream, tuple(map(int, description["cross_links"])))
    following = own + 1
    for satellite in description["satellites"]:
        yield from _places(satellite, own, following)
        following += 1 + _behind(satellite)
    yield from (Place(card["type"], own) for card in _card_boards(description))


def _load(path: Path, above: tuple[Path, ...]) -> dict:
    if path.resolve() in above:
        raise DescriptionError(f"{path}: satellites: the board would be behind itself")
    description = _read(path)
    for name in description["satellites"]:
        if not (path.parent / name).is_file():
            raise DescriptionError(f"{path}: satellites: there is no file {path.parent / name}")
    behind = [_load(path.parent / name, (*above, path.resolve())) for name in description["satellites"]]
    for name, satellite in zip(description["satellites"], behind, strict=True):
        if satellite["target"] in _TARGETS:
            card = satellite["base"]
            raise DescriptionError(
                f"{path}: satellites: {name} is a {card}, which is at an EEM connector: give it as a peripheral"
            )
        if _role(satellite) != "satellite":
            raise DescriptionError(f'{path}: satellites: {name} does not say "base": "satellite"')
    description = description | {"satellites": behind}
    if _role(description) == "master" and (why := why_not_in_tree(list(_places(description)))):
        raise DescriptionError(f"{path}: satellites: cross_links: {why}")
    if _behind(description) >= BOARDS:
        raise DescriptionError(
            f"{path}: satellites: {_behind(description)} boards are behind this one, with those behind them; "
            f"a tree has {BOARDS} boards at most"
        )
    return description


def _read(path: Path) -> dict:
    with path.open("rb") as file:
        content = file.read(_FILE_MAX + 1)
    if len(content) > _FILE_MAX:
        raise DescriptionError(f"{path}: it has more than {_FILE_MAX} bytes")
    try:
        description = json.loads(content.decode())
    except json.JSONDecodeError as error:
        raise DescriptionError(f"{path}: line {error.lineno}, column {error.colno}: {error.msg}") from None
    except UnicodeDecodeError:
        raise DescriptionError(f"{path}: not a text file in UTF-8") from None
    except RecursionError:
        raise DescriptionError(f"{path}: its values are nested too deeply") from None
    except ValueError:
        raise DescriptionError(f"{path}: an integer has thousands of digits") from None
    return check(description, str(path))


def make_variant(description: dict) -> Variant:
    """The variant of a loaded description: channels of the cards in their order, then LEDs and the
    log. Cards that are boards of their own follow the satellites. Names are numbered consecutively across all boards,
    in the order of their destinations."""
    return _variant(description, Builder(description["core_addr"]))


def _card_board(
    kind: str, builder: Builder, drtio: bool, name: str | None = None, eem: int | None = None, board: str = ""
) -> Variant:
    """That of a card which is a board of its own, by default with its own name. drtio: as of the `Variant`."""
    stem = CARD_BOARDS[kind].name
    card = f"{stem}{builder.next(stem)}"
    CARD_BOARDS[kind].add(builder, card)
    channels = tuple(builder.channels)
    return Variant(
        name or card,
        channels,
        devices=builder.devices,
        push_inputs=False,
        uplink=True,
        eem=eem,
        board=board,
        drtio=drtio,
    )


def _card_at_connector(card: dict, builder: Builder) -> Variant:
    """That of a card at a connector. Raises `DescriptionError` if the description gives it another number."""
    number, (port,) = builder.destination, card["ports"]
    if (wanted := card.get("drtio_destination", number)) != number:
        raise DescriptionError(
            f"peripherals: the {card['type']} at port {port} is destination {number}, as boards are numbered in their "
            f"order, not {wanted}: leave drtio_destination out, and generate the device database"
        )
    return _card_board(card["type"], builder, _drtio(card), eem=port)


def _variant(description: dict, builder: Builder) -> Variant:
    board = f"{description['target']};{description['hw_rev']}"
    if description["base"] in CARD_BOARDS:
        return _card_board(description["base"], builder, _drtio(description), description["variant"], board=board)
    for card in description["peripherals"]:
        if card["type"] in PERIPHERALS:
            PERIPHERALS[card["type"]](builder, card)
    if description["target"] == "zc706":
        # The pins of PMOD1, then the LEDs
        for i in range(8):
            builder.channel(f"ttl{builder.next('ttl')}", "ttl_inout" if i < 4 else "ttl_out", [], serialised=1)
        for _ in range(4):
            builder.channel(f"led{builder.next('led')}", "ttl_out", [])
    else:
        for i in range(2):
            builder.channel(f"led{builder.next('led')}", "ttl_out", [f"user_led:{i}"])
    role = _role(description)
    if role != "satellite":
        builder.channels.append(ChannelSpec("rtio_log", "log"))
    names = [channel.name for channel in builder.channels]
    for name in names:
        if names.count(name) > 1:
            raise DescriptionError(f"two channels have the name {name!r}")
    channels, devices = tuple(builder.channels), builder.devices
    converters = tuple(connector for card in description["peripherals"] for connector in card.get("converters", ()))
    satellites = tuple(_variant(satellite, builder.behind()) for satellite in description["satellites"])
    satellites += tuple(_card_at_connector(card, builder.behind()) for card in _card_boards(description))
    return Variant(
        description["variant"],
        channels,
        devices=devices,
        host=description["core_addr"],
        lanes=description["sed_lanes"],
        push_inputs=description["push_inputs"] and role == "standalone",
        uplink=role == "satellite",
        satellites=satellites,
        # Converters and RTIO need a common clock
        synthesiser=int(bool(converters)),
        converters=converters,
        quadrature=any(card.get("quadrature", False) for card in description["peripherals"]),
        remote=description["remote_memory"],
        block=description.get("block"),
        bridge=make_bridge(description.get("bridge")),
        board=board,
        low=tuple(builder.low),
        cross_links=len(description["cross_links"]),
    )
