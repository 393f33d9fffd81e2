"""The picture of ``kairos links --plot``: the boards as boxes, with what each link says of itself between them."""

from ..pictures import COLORS, FONT, drawing, save

__all__ = ["write_plot"]

_LEFT, _RIGHT, _WIDTH = 0.3, 2.7, 3.0
_HEIGHT = 1.4
"""Of a link, in inches."""
_GOOD, _BAD = COLORS[2], COLORS[1]


def write_plot(path, links: list[dict[str, str]]):
    """Draw the links of a device, each as texts by the columns of the table, into `path`. OSError."""
    with drawing(**FONT) as pyplot:
        figure, axes = pyplot.subplots(figsize=(10, max(2, len(links)) * _HEIGHT))
        axes.set_axis_off()
        axes.set_xlim(0, _WIDTH)
        axes.set_ylim(len(links) - 0.4, -0.6)
        middle = (len(links) - 1) / 2
        _box(axes, _LEFT, middle, "this device", COLORS[0])
        for row, link in enumerate(links):
            color = _GOOD if link["state"] == "up" else _BAD
            axes.plot([_LEFT, _RIGHT], [middle, row], color=color, linewidth=2, zorder=1)
            above = (
                f"{link['way']}, round trip {link['round trip']}" if link["way"] else f"round trip {link['round trip']}"
            )
            below = f"corrected {link['corrected']}, sent again {link['sent again']}, dropped {link['dropped']}"
            below += f", ended {link['ended']}; space {link['space']}"
            place = (_LEFT + _RIGHT) / 2, (middle + row) / 2
            text = f"{link['state']}; {above}\n{below}"
            background = {"facecolor": "white", "edgecolor": "none", "pad": 2}
            axes.text(*place, text, ha="center", va="center", fontsize=8, bbox=background, zorder=2)
            name = link["board"] or "(unknown)"
            channels = f"\n{link['channels']} channels" if link["channels"] else ""
            _box(axes, _RIGHT, row, f"{link['destination']}: {name}{channels}", color)
        save(figure, path, dpi=150)


def _box(axes, x, y, text, color):
    style = {"boxstyle": "round,pad=0.6", "facecolor": "white", "edgecolor": color, "linewidth": 1.5}
    axes.text(x, y, text, ha="center", va="center", fontsize=9, bbox=style, zorder=3)
