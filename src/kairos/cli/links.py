"""``kairos links``: the tree of boards connected to a core device, and the links between them."""

import json

from ..contracts.management import DESTINATION_LOCAL
from ..errors import KairosError, UsageError
from ..network.management import PORT, KeyNotKnown, Management, read_key
from ..waveform.table import aligned
from .address import address_of
from .links_plot import write_plot
from .outputs import check_picture

__all__ = ["destination_of", "links", "tree_of"]

_COLUMNS = (
    *("destination", "board", "state", "channels", "way", "phase", "round trip"),
    *("ended", "corrected", "sent again", "dropped", "space", "resent", "lost packets"),
    *("refused above", "refused below", "unplayed"),
)
"""`phase`: by how much, below a cycle, the clock of what comes back is later than that of the board
above. From `ended` to `space` of the logic's words, the next two of the firmware's packets. Refused
are loads, stores and packets of copies to memory that the board above, or below, does not export to
the other one. Unplayed are outputs that were lost as the logic of the board below began anew."""
_NOT_MEASURED = "–"
_WORDS = ("ended", "corrected", "retransmitted", "dropped", "space")


def links(args):
    """Print the links of the device that the command line `args` names, as a table or as JSON, and
    draw them if wanted. UsageError."""
    if args.plot:
        check_picture("--plot", args.plot)
    found = tree_of(address_of(args, PORT), read_key(args.key) if args.key else None)
    if args.json:
        print(json.dumps(found, indent=2))
    elif not found:
        print("this device has no links")
    else:
        print(_table(found))
    if args.plot and found:
        write_plot(args.plot, [(link["from"], _shown(link)) for link in found])


def tree_of(address: tuple[str, int], key: bytes | None = None) -> list[dict]:
    """All links of the tree whose master is at `address`, by their destinations: as
    `Management.links`, and of each `from`, the destination of the board above, and `far`, what the
    board below says of the link, or None if it does not tell. A board that wants another key than
    `key` tells nothing. Errors of `Management` for the master.
    """
    found, ask = [], [DESTINATION_LOCAL]
    while ask:
        above = ask.pop(0)
        for link in _links(address, above, key):
            if link["above"]:
                next(other for other in found if other["destination"] == above)["far"] = link
                continue
            found.append(link | {"from": above, "far": None})
            if link["up"]:
                ask.append(link["destination"])
    return sorted(found, key=lambda link: link["destination"])


def _links(address, destination: int, key: bytes | None) -> list[dict]:
    try:
        with Management(*address, key=key, destination=destination) as management:
            return management.links()
    except KeyNotKnown:
        if destination == DESTINATION_LOCAL:
            raise
        return _links(address, destination, None)
    except KairosError:
        # One that has just gone, or wants another key, does not hide the others
        if destination == DESTINATION_LOCAL:
            raise
        return []


def destination_of(address: tuple[str, int], board: str, key: bytes | None = None) -> int:
    """The destination of the board that a user names or numbers. UsageError if there is not one of that name."""
    if board.isdecimal() and int(board) < 256:
        return int(board)
    boards = [(_name(link), link["destination"]) for link in tree_of(address, key)]
    fitting = [destination for name, destination in boards if name == board]
    if len(fitting) > 1:
        raise UsageError(f"several boards are called '{board}': select one by its number, {_listed(fitting)}")
    if not fitting:
        known = _listed(sorted({name for name, _ in boards if name})) or "none that answers"
        raise UsageError(f"this device has no board '{board}' on its links; available: {known}")
    return fitting[0]


def _listed(parts) -> str:
    return ", ".join(map(str, parts))


def _name(link: dict) -> str:
    """Name of a board: its gateware's variant."""
    return link.get("board", "").split(";")[0]


def _state(link: dict) -> str:
    if not link["line"]:
        return "no line"
    if not link["up"]:
        return "no answer"
    return "up" if link.get("rtio", True) else "up, without RTIO"


def _shown(link: dict) -> dict[str, str]:
    """Texts by column."""
    way = f"{link['travel_cycles']} cycles" if "travel_cycles" in link else ""
    texts = [str(link["destination"]), _name(link), _state(link), str(link.get("channels", "")), way]
    texts.append(f"{link['phase_ps']} ps" if "phase_ps" in link else _NOT_MEASURED)
    texts.append(f"{link['round_trip_us']} µs")
    texts += [str(link.get("words", {}).get(name, "")) for name in _WORDS]
    texts += [str(link["resent"]), str(link["malformed"] + link["dropped"])]
    refused = [(end or {}).get("refused") for end in (link, link["far"])]
    texts += ["" if counts is None else str(sum(counts.values())) for counts in refused]
    texts.append(str(link.get("unplayed", "")))
    return dict(zip(_COLUMNS, texts, strict=True))


def _table(found: list[dict]) -> str:
    depths = {DESTINATION_LOCAL: 0}
    rows = [_COLUMNS]
    for link in found:
        shown, depth = _shown(link), depths[link["from"]]
        depths[link["destination"]] = depth + 1
        rows.append(tuple((shown | {"board": "  " * depth + shown["board"]}).values()))
    return "\n".join(aligned(rows, left=len(_COLUMNS), rule=False))
