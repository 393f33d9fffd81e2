"""The picture of ``kairos links --plot``: the boards as boxes, one per row and indented relative to
the upstream board, each with the state of its link; cross links as dashed lines between boxes, with rows of their
own below."""

from ..pictures import COLORS, FONT, NAMES, drawing, save

__all__ = ["write_plot"]

_ROW = 0.62
"""Height of a board's row, in inches, as are all lengths here."""
_INDENT = 0.45
"""Indentation of a board's box relative to that of the upstream board."""
_LETTER = 0.075
"""Approximate width of a letter of the names."""
_PAD, _GAP, _TEXT = 0.12, 0.3, 4.6
"""Padding around a name; gap between a box and the texts, and at the borders; width of the texts.
"""
_LANE = 0.16
"""Distance of the lines of two cross links."""
_GOOD, _BAD = COLORS[2], COLORS[1]
_COUNTS = ("corrected", "sent again", "dropped", "ended", "space")


def write_plot(path, links: list[tuple[int, dict[str, str]]], cross: list[tuple[int, int | None, dict[str, str]]] = ()):
    """Draw the links of a device, each as the destination of the upstream board and texts by the
    columns of the table, into `path`; cross links as the destinations of both boards (None: unknown) and texts.
    OSError."""
    places = {0: (0, 0)}
    boards = [(0, 0, "this device", COLORS[0])]
    for row, (upstream, link) in enumerate(links, 1):
        depth = places[upstream][0] + 1
        places[int(link["destination"])] = depth, row
        boards.append((depth, row, _name(link), _color(link)))
    boxes = max(depth * _INDENT + len(name) * _LETTER + 2 * _PAD for depth, _, name, _ in boards)
    texts = boxes + _GAP + len(cross) * _LANE
    width, height = texts + _TEXT + 2 * _GAP, (len(boards) + len(cross)) * _ROW + _GAP
    with drawing(**FONT, **NAMES) as pyplot:
        figure, axes = pyplot.subplots(figsize=(width, height))
        figure.subplots_adjust(0, 0, 1, 1)
        axes.set_axis_off()
        axes.set_xlim(-_GAP, width - _GAP)
        axes.set_ylim(height - _ROW / 2 - _GAP / 2, -_ROW / 2 - _GAP / 2)
        for upstream, link in links:
            _line(axes, places[upstream], places[int(link["destination"])], _color(link))
        for depth, row, name, color in boards:
            style = {
                "boxstyle": f"round,pad={_PAD / 9 * 72}",
                "facecolor": "white",
                "edgecolor": color,
                "linewidth": 1.5,
            }
            axes.text(depth * _INDENT + _PAD, row * _ROW, name, va="center", fontsize=9, bbox=style, zorder=3)
        for row, (_, link) in enumerate(links, 1):
            _text(axes, texts, row * _ROW, link)
        for lane, (one, other, link) in enumerate(cross):
            row = len(boards) + lane
            label = f"cross link {link['destination']}"
            axes.text(boxes - _PAD, row * _ROW, label, ha="right", va="center", fontsize=9)
            _text(axes, texts, row * _ROW, link)
            ends = [places[board] for board in (one, other) if board in places]
            _cross(axes, ends, boxes, boxes + _GAP / 2 + lane * _LANE, row, _color(link))
        save(figure, path, dpi=150)


def _name(link):
    channels = f", {link['channels']} channels" if link["channels"] else ""
    return f"{link['destination']}: {link['board'] or '(unknown)'}{channels}"


def _color(link):
    return _GOOD if link["state"] == "up" else _BAD


def _line(axes, start, end, color):
    """Draw the connection from below the box of the upstream board, down and to the right."""
    (depth, row), (_, last) = start, end
    x = depth * _INDENT + _INDENT / 2
    axes.plot([x, x], [row * _ROW, last * _ROW], color="0.6", linewidth=2, zorder=1)
    axes.plot([x, x + _INDENT / 2], [last * _ROW, last * _ROW], color=color, linewidth=2, zorder=2)


def _cross(axes, ends, boxes, x, row, color):
    """Draw a cross link: from its boards to the right, and at `x` down to its row."""
    style = {"color": color, "linewidth": 1.5, "linestyle": (0, (3, 2)), "zorder": 1}
    rows = [*(of_board for _, of_board in ends), row]
    for depth, of_board in ends:
        axes.plot([depth * _INDENT + _INDENT / 2, x], [of_board * _ROW] * 2, **style)
    axes.plot([x, x], [min(rows) * _ROW, row * _ROW], **style)
    axes.plot([boxes, x], [row * _ROW] * 2, **style)
    axes.plot([x] * len(rows), [each * _ROW for each in rows], ".", color=color, zorder=2)


def _text(axes, x, y, link):
    delay = f"{link['delay']}, phase {link['phase']}, " if link["delay"] else ""
    counts = ", ".join(f"{name} {link[name]}" for name in _COUNTS if link[name])
    axes.text(x, y - 0.1, link["state"], va="center", fontsize=8, color=_color(link), weight="bold")
    round_trip = f"round trip {link['round trip']}" if link["round trip"] else ""
    axes.text(x + 1.3, y - 0.1, f"{delay}{round_trip}", va="center", fontsize=8)
    axes.text(x + 1.3, y + 0.1, counts, va="center", fontsize=7, color="0.4")
