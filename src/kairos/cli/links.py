"""``kairos links``: the boards behind a core device, and the links to them."""

import json

from ..errors import UsageError
from ..network.management import PORT, Management, read_key
from ..waveform.table import aligned
from .address import address_of
from .links_plot import write_plot
from .outputs import check_picture

__all__ = ["destination_of", "links"]

_COLUMNS = (
    *("destination", "board", "state", "channels", "way", "round trip"),
    *("ended", "corrected", "sent again", "dropped", "space", "resent", "lost packets"),
)
"""From `ended` to `space` of the logic's words, the last two of the firmware's packets."""
_WORDS = ("ended", "corrected", "retransmitted", "dropped", "space")


def links(args):
    """Print the links of the device that the command line `args` names, as a table or as JSON, and draw them if wanted.
    UsageError."""
    if args.plot:
        check_picture("--plot", args.plot)
    with Management(*address_of(args, PORT), key=read_key(args.key) if args.key else None) as management:
        found = management.links()
    if args.json:
        print(json.dumps(found, indent=2))
    elif not found:
        print("this device has no links")
    else:
        print(_table(found))
    if args.plot and found:
        try:
            write_plot(args.plot, [_shown(link) for link in found])
        except OSError as error:
            raise UsageError(f"--plot {args.plot} cannot be written: {error.strerror}") from None


def destination_of(address: tuple[str, int], board: str) -> int:
    """The destination of the board that a user names or numbers. UsageError if there is none of that name."""
    if board.isdecimal() and int(board) < 256:
        return int(board)
    with Management(*address) as management:
        names = {_name(link): link["destination"] for link in management.links() if not link["above"]}
    if board not in names:
        known = ", ".join(sorted(name for name in names if name)) or "none that answers"
        raise UsageError(f"no board '{board}' behind a link of this device; there is: {known}")
    return names[board]


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
    name = "(the board above)" if link["above"] else _name(link)
    texts = [str(link["destination"]), name, _state(link), str(link.get("channels", "")), way]
    texts.append(f"{link['round_trip_us']} µs")
    texts += [str(link.get("words", {}).get(name, "")) for name in _WORDS]
    texts += [str(link["resent"]), str(link["malformed"] + link["dropped"])]
    return dict(zip(_COLUMNS, texts, strict=True))


def _table(found: list[dict]) -> str:
    rows = [_COLUMNS, *(tuple(_shown(link).values()) for link in found)]
    return "\n".join(aligned(rows, left=len(_COLUMNS), rule=False))
