"""The picture of ``kairos links --plot``: the boards as boxes, with what each link says of itself between them."""

from ..pictures import COLORS, FONT, drawing, save

__all__ = ["write_plot"]

_STEP = 2.4
"""From a board to one below it."""
_LEFT, _RIGHT = 0.3, 0.3
_HEIGHT = 1.4
"""Of a link, in inches."""
_GOOD, _BAD = COLORS[2], COLORS[1]


def write_plot(path, links: list[tuple[int, dict[str, str]]]):
    """Draw the links of a device, each as the destination of the board above and texts by the
    columns of the table, into `path`. OSError."""
    places = {0: (_LEFT, _middle(range(len(links)), links, 0))}
    for row, (above, link) in enumerate(links):
        places[int(link["destination"])] = (places[above][0] + _STEP, row)
    width = max(x for x, _ in places.values()) + _RIGHT
    with drawing(**FONT) as pyplot:
        figure, axes = pyplot.subplots(figsize=(10 * width / (_LEFT + _STEP + _RIGHT), max(2, len(links)) * _HEIGHT))
        axes.set_axis_off()
        axes.set_xlim(0, width)
        axes.set_ylim(len(links) - 0.4, -0.6)
        _box(axes, places[0], "this device", COLORS[0])
        for above, link in links:
            start, end = places[above], places[int(link["destination"])]
            color = _GOOD if link["state"] == "up" else _BAD
            axes.plot(*zip(start, end, strict=True), color=color, linewidth=2, zorder=1)
            middle = [(a + b) / 2 for a, b in zip(start, end, strict=True)]
            background = {"facecolor": "white", "edgecolor": "none", "pad": 2}
            axes.text(*middle, _text(link), ha="center", va="center", fontsize=8, bbox=background, zorder=2)
            name = link["board"] or "(unknown)"
            channels = f"\n{link['channels']} channels" if link["channels"] else ""
            _box(axes, end, f"{link['destination']}: {name}{channels}", color)
        save(figure, path, dpi=150)


def _middle(rows, links, board):
    """Where a board stands between those directly below it."""
    below = [row for row in rows if links[row][0] == board]
    return (below[0] + below[-1]) / 2


def _text(link):
    way = f"{link['way']}, phase {link['phase']}, " if link["way"] else ""
    counts = f"corrected {link['corrected']}, sent again {link['sent again']}, dropped {link['dropped']}"
    times = f"{way}round trip {link['round trip']}"
    return f"{link['state']}; {times}\n{counts}, ended {link['ended']}; space {link['space']}"


def _box(axes, place, text, color):
    style = {"boxstyle": "round,pad=0.6", "facecolor": "white", "edgecolor": color, "linewidth": 1.5}
    axes.text(*place, text, ha="center", va="center", fontsize=9, bbox=style, zorder=3)
