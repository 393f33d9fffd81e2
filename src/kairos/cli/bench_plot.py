"""The picture of ``kairos bench draw``: pins and parts as boxes, from outputs on the left to inputs on the right."""

from ..pictures import COLORS, FONT, drawing, save

__all__ = ["write_plot"]

_WIDTH, _HEIGHT = 2.4, 0.9
"""Of a column and of a row, in inches."""


def write_plot(path, plan: dict):
    """Draw `plan` (``parts`` and ``wires``, docs/interfaces.md section 7) into `path`. OSError."""
    kinds = {part["name"]: part["kind"] for part in plan["parts"]}
    places = _places(kinds, plan["wires"])
    columns = 1 + max((x for x, _ in places.values()), default=0)
    rows = 1 + max((y for _, y in places.values()), default=0)
    colors = dict(zip(dict.fromkeys(kinds.values()), COLORS, strict=False))
    with drawing(**FONT) as pyplot:
        size = (columns * _WIDTH, max(2, rows) * _HEIGHT)
        figure, axes = pyplot.subplots(figsize=size, layout="constrained")
        axes.set_axis_off()
        axes.set_xlim(-0.5, columns - 0.5)
        axes.set_ylim(rows - 0.4, -0.6)
        boxes = {}
        for name, place in places.items():
            text, color = (f"{name}\n{kinds[name]}", colors[kinds[name]]) if name in kinds else (name, COLORS[-1])
            style = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": color, "linewidth": 1.5}
            boxes[name] = axes.text(*place, text, ha="center", va="center", fontsize=9, bbox=style, zorder=1)
        for wire in plan["wires"]:
            _wire(axes, boxes[wire["from"]], boxes[wire["to"]], wire["label"])
        save(figure, path, dpi=150)


def _places(kinds: dict, wires: list[dict]) -> dict[str, tuple[int, float]]:
    """Column and row of each name: a column behind all that lead to it; the rows of a column are centred."""
    names = dict.fromkeys([end for wire in wires for end in (wire["from"], wire["to"])] + list(kinds))
    column = dict.fromkeys(names, 0)
    # A wire leads on by one column; nothing goes round in circles in fewer steps than there are names.
    for _ in names:
        for wire in wires:
            column[wire["to"]] = min(max(column[wire["to"]], column[wire["from"]] + 1), len(names))
    found = {}
    tall = max((list(column.values()).count(x) for x in column.values()), default=0)
    for x in sorted(set(column.values())):
        members = [name for name in names if column[name] == x]
        found |= {name: (x, y + (tall - len(members)) / 2) for y, name in enumerate(members)}
    return found


def _wire(axes, source, target, label):
    """An arrow from box to box. It is drawn behind them: how large they are is known only then."""
    ends = {"patchA": source.get_bbox_patch(), "patchB": target.get_bbox_patch(), "shrinkA": 0, "shrinkB": 0}
    arrow = {"arrowstyle": "-|>", "color": COLORS[-1], "linewidth": 1.2, **ends}
    start, end = source.get_position(), target.get_position()
    axes.annotate("", xy=end, xytext=start, arrowprops=arrow, zorder=2)
    if label:
        middle = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        background = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axes.text(*middle, label, ha="center", va="center", fontsize=7, bbox=background, zorder=3)
