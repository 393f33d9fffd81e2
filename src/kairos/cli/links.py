"""``kairos links``: the tree of boards connected to a core device, its links, and those beside the tree."""

import json

from ..contracts.management import DESTINATION_LOCAL
from ..errors import KairosError, UsageError
from ..network.management import PORT, KeyNotKnown, Management, read_key
from ..waveform.table import aligned
from .address import address_of
from .links_plot import write_plot
from .outputs import check_picture

__all__ = ["destination_of", "links", "links_of"]

_COLUMNS = (
    *("destination", "board", "state", "channels", "delay", "phase", "round trip"),
    *("ended", "corrected", "sent again", "dropped", "space", "resent", "lost packets"),
    *("refused upstream", "refused downstream", "lost outputs"),
)
"""`phase`: delay, modulo a cycle, of the returned clock relative to that of the upstream board.
`ended` to `space` count the logic's words, the next two the firmware's packets. `refused`: loads,
stores and packets of copies to memory that one board of a link does not export to the other.
`lost outputs`: those lost when the logic of the downstream board restarted. A cross link is counted at the end of the
board named first, and has refusals of both.
"""
_NOT_MEASURED = "–"
_WORDS = ("ended", "corrected", "retransmitted", "dropped", "space")


def links(args):
    """Print the links of the device named by the command line `args`, as a table or as JSON, and
    draw them if requested. UsageError."""
    if args.plot:
        check_picture("--plot", args.plot)
    found, cross = links_of(address_of(args, PORT), read_key(args.key) if args.key else None)
    if args.json:
        print(json.dumps(found + cross, indent=2))
    elif not found:
        print("this device has no links")
    else:
        print(_table(found, cross))
    if args.plot and found:
        others = [(link["from"], link["destination"], _shown_cross(link)) for link in cross]
        write_plot(args.plot, [(link["from"], _shown(link)) for link in found], others)


def links_of(address: tuple[str, int], key: bytes | None = None) -> tuple[list[dict], list[dict]]:
    """Return the links of the tree whose master is at `address`, by destination, and its cross links.

    A link of the tree is as `Management.links` has it, with `from`, the destination of the upstream board, and
    `downstream`, the link as reported by the downstream board, or None if it does not report it. A cross link is as
    reported by the board with the lower destination, which is `from`, with `across` as by the other, or None; also if
    it leads to no board that reports it. A board with a key other than `key` reports nothing. Errors of `Management`
    for the master.
    """
    found, cross, ask = [], [], [DESTINATION_LOCAL]
    known = {DESTINATION_LOCAL: {}}
    """Boards whose destinations have been reported, with the link to each."""
    while ask:
        upstream = ask.pop(0)
        for link in _links(address, upstream, key):
            if "cross" in link:
                _add_cross(cross, link | {"from": upstream, "across": None})
                continue
            if link["upstream"]:
                known[upstream]["downstream"] = link
                continue
            if link["destination"] in known:
                raise KairosError(f"two links lead to the destination {link['destination']}, which makes no tree")
            known[link["destination"]] = link | {"from": upstream, "downstream": None}
            found.append(known[link["destination"]])
            if link["up"]:
                ask.append(link["destination"])
    return sorted(found, key=lambda link: link["destination"]), cross


def _add_cross(known: list[dict], link: dict):
    """Add a cross link, as one of its boards reports it, unless it is the other end of a known one."""
    ends = link["destination"], link["from"]
    for other in known:
        if (other["from"], other["destination"]) == ends and other["across"] is None:
            other["across"] = link
            return
    known.append(link)


def _links(address, destination: int, key: bytes | None) -> list[dict]:
    try:
        with Management(*address, key=key, destination=destination) as management:
            return management.all_links()
    except KeyNotKnown:
        if destination == DESTINATION_LOCAL:
            raise
        return _links(address, destination, None)
    except KairosError:
        # A board that has just become unreachable, or has another key, does not hide the others
        if destination == DESTINATION_LOCAL:
            raise
        return []


def destination_of(address: tuple[str, int], board: str, key: bytes | None = None) -> int:
    """Return the destination of the board that a user names or numbers. UsageError unless exactly
    one has that name."""
    if board.isdecimal() and int(board) < 256:
        return int(board)
    boards = [(_name(link), link["destination"]) for link in links_of(address, key)[0]]
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
    """Return the name of a board: its gateware's variant."""
    return link.get("board", "").split(";")[0]


def _state(link: dict) -> str:
    if not link["line"]:
        return "no line"
    if not link["up"]:
        return "no answer"
    return "up" if link.get("rtio", True) else "up, without RTIO"


def _shown(link: dict) -> dict[str, str]:
    """Return the texts by column."""
    delay = f"{link['delay_cycles']} cycles" if "delay_cycles" in link else ""
    texts = [str(link["destination"]), _name(link), _state(link), str(link.get("channels", "")), delay]
    texts.append(f"{link['phase_ps']} ps" if "phase_ps" in link else _NOT_MEASURED)
    texts.append(f"{link['round_trip_us']} µs")
    texts += [str(link.get("words", {}).get(name, "")) for name in _WORDS]
    texts += [str(link["resent"]), str(link["malformed"] + link["dropped"])]
    refused = [(end or {}).get("refused") for end in (link, link["downstream"])]
    texts += ["" if counts is None else str(sum(counts.values())) for counts in refused]
    texts.append(str(link.get("lost_outputs", "")))
    return dict(zip(_COLUMNS, texts, strict=True))


def _shown_cross(link: dict) -> dict[str, str]:
    """Return the texts of a cross link by column."""
    there = "?" if link["destination"] is None else link["destination"]
    texts = dict.fromkeys(_COLUMNS, "")
    texts |= {"destination": f"{link['from']} – {there}", "board": "cross link", "state": _state(link)}
    for name, column in zip(_WORDS, _COLUMNS[7:], strict=False):
        texts[column] = str(link.get("words", {}).get(name, ""))
    for end, column in ((link, "refused upstream"), (link["across"], "refused downstream")):
        counts = (end or {}).get("refused")
        texts[column] = "" if counts is None else str(sum(counts.values()))
    return texts


def _table(found: list[dict], cross: list[dict]) -> str:
    depths = {DESTINATION_LOCAL: 0}
    rows = [_COLUMNS]
    for link in found:
        shown, depth = _shown(link), depths[link["from"]]
        depths[link["destination"]] = depth + 1
        rows.append(tuple((shown | {"board": "  " * depth + shown["board"]}).values()))
    rows += [tuple(_shown_cross(link).values()) for link in cross]
    return "\n".join(aligned(rows, left=len(_COLUMNS), rule=False))
