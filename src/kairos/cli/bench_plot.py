"""The picture of ``kairos bench draw``: pins and parts as boxes, from outputs on the left to inputs
on the right."""

from collections import defaultdict
from itertools import cycle, pairwise

from ..pictures import COLORS, FONT, NAMES, drawing, save

__all__ = ["places", "write_plot"]

_WIDTH, _HEIGHT = 2.4, 0.9
"""Width of a column and height of a row, in inches."""
_SWEEPS = 4
"""Sweeps over all columns that place each box near its neighbours; more changed nothing in the
benches tried."""
LABELS = 4
"""Maximum number of labels on a wire; further ones between the same boxes are only counted."""


def write_plot(path, plan: dict):
    """Draw `plan` (``parts`` and ``wires``, docs/interfaces.md section 7) into `path`. UsageError."""
    kinds = {part["name"]: part["kind"] for part in plan["parts"]}
    labels = _labels(plan["wires"])
    names = list(dict.fromkeys([end for wire in labels for end in wire] + list(kinds)))
    found, ways = places(names, list(labels))
    columns = 1 + max((x for x, _ in found.values()), default=0)
    rows = 1 + max((y for _, y in found.values()), default=0)
    # Pins have the last colour; with many kinds some share a colour.
    colors = dict(zip(dict.fromkeys(kinds.values()), cycle(COLORS[:-1]), strict=False))
    with drawing(**FONT, **NAMES) as pyplot:
        size = (columns * _WIDTH, max(2, rows) * _HEIGHT)
        figure, axes = pyplot.subplots(figsize=size, layout="constrained")
        axes.set_axis_off()
        axes.set_xlim(-0.5, columns - 0.5)
        axes.set_ylim(rows - 0.4, -0.6)
        boxes = {}
        for name in names:
            text, color = (f"{name}\n{kinds[name]}", colors[kinds[name]]) if name in kinds else (name, COLORS[-1])
            style = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": color, "linewidth": 1.5}
            boxes[name] = axes.text(*found[name], text, ha="center", va="center", fontsize=9, bbox=style, zorder=3)
        for wire, label in labels.items():
            _wire(axes, boxes, wire, [found[stop] for stop in ways[wire]], label)
        save(figure, path, dpi=150)


def _labels(wires: list[dict]) -> dict[tuple[str, str], list[str]]:
    """Return the labels of the wires between boxes. A card whose pins have its own name needs no
    box for them."""
    labels = defaultdict(list)
    for wire in wires:
        if wire["from"] != wire["to"]:
            labels[wire["from"], wire["to"]] += filter(None, [wire["label"]])
    return labels


def places(names: list[str], wires: list[tuple[str, str]]) -> tuple[dict, dict]:
    """Lay out boxes and wires: (column, row) of each name, and the stops of each wire including
    both ends. Wires across several columns occupy a place in each, so they cross no box."""
    column = _columns(names, wires)
    members: dict[int, list] = defaultdict(list)
    for name in names:
        members[column[name]].append(name)
    ways, beside = {}, defaultdict(list)
    for wire in wires:
        start, end = (column[name] for name in wire)
        over = range(start + 1, end) if end > start else range(start - 1, end, -1)
        stops = [(wire, x) for x in over]
        for stop in stops:
            members[stop[1]].append(stop)
        ways[wire] = [wire[0], *stops, wire[1]]
        for one, other in pairwise(ways[wire]):
            beside[one].append(other)
            beside[other].append(one)
    tall = max(map(len, members.values()), default=0)
    found = {}

    def put(x):
        top = (tall - len(members[x])) / 2
        found.update({member: (x, top + row) for row, member in enumerate(members[x])})

    for x in members:
        put(x)
    for sweep in range(_SWEEPS):
        for x in sorted(members, reverse=sweep % 2 == 1):
            mean = {
                member: sum(found[other][1] for other in beside[member]) / max(len(beside[member]), 1)
                for member in members[x]
                if beside[member]
            }
            members[x].sort(key=lambda member, mean=mean: mean.get(member, found[member][1]))
            put(x)
    return found, ways


def _columns(names, wires) -> dict[str, int]:
    """Return the column of each name: after all its predecessors, ignoring cycles; names without
    predecessors are placed directly before their first successor."""
    behind = defaultdict(list)
    for source, target in wires:
        behind[source].append(target)
    order, state = [], {}

    def visit(name):
        state[name] = "open"
        for target in list(behind[name]):
            if state.get(target) == "open":
                behind[name].remove(target)  # it closes a cycle
            elif target not in state:
                visit(target)
        state[name] = "done"
        order.append(name)

    for name in names:
        if name not in state:
            visit(name)
    column = dict.fromkeys(names, 0)
    for name in reversed(order):
        for target in behind[name]:
            column[target] = max(column[target], column[name] + 1)
    reached = {target for targets in behind.values() for target in targets}
    for name in names:
        if behind[name] and name not in reached:
            column[name] = min(column[target] for target in behind[name]) - 1
    return column


def _wire(axes, boxes, wire, way, label):
    """Draw a line along the wire's stops, with an arrow at its end. Drawn after the boxes, whose
    size is known only then."""
    line = {"color": COLORS[-1], "linewidth": 1.2}
    axes.plot(*zip(*way[:-1], strict=True), **line, solid_joinstyle="round", zorder=1)
    ends = {"patchB": boxes[wire[1]].get_bbox_patch(), "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=way[-1], xytext=way[-2], arrowprops={"arrowstyle": "-|>", **line, **ends}, zorder=1)
    if label:
        if len(label) > LABELS:
            label = [*label[: LABELS - 1], f"and {len(label) - LABELS + 1} more"]
        # Not in the middle, where wires cross.
        place = [start + 0.4 * (end - start) for start, end in zip(*way[:2], strict=True)]
        background = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axes.text(*place, "\n".join(label), ha="center", va="center", fontsize=7, bbox=background, zorder=2)
