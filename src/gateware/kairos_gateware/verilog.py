"""Verilog of a design, as Migen writes it, in time that grows with the design and not with its square.

Three steps of Migen's converter take most of the time for a design of this size: statements are grouped by what they
assign by comparing each with all groups before it, names are told apart likewise, and the garbage collector looks
through all of the design's parts again and again. The text is the same, to the byte.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from migen.fhdl import namer, verilog
from migen.fhdl.tools import flat_iteration, list_targets

__all__ = ["convert", "group_by_targets", "uncollected"]


@contextmanager
def uncollected() -> Iterator[None]:
    """Context without garbage collection: of what an elaboration makes, most lives until its end."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def convert(design, ios: set, name: str = "top", **options):
    """Return what Migen makes of `design` (a module or fragment) with the ports `ios`: `main_source`, and `data_files`
    for contents of memories. options: as Migen's `convert` has them."""
    with uncollected():
        return verilog.convert(design, ios, name=name, **options)


def group_by_targets(statements) -> list[tuple[set, list]]:
    """Return (targets, statements) for each set of statements that assign common signals, in the order in which the
    last statement of each comes."""
    groups, group_of = {}, {}
    for order, statement in enumerate(flat_iteration(statements)):
        targets = set(list_targets(statement))
        joined = {id(group): group for group in (group_of.get(target) for target in targets) if group is not None}
        # The largest of them takes the others in, so that each statement moves few times.
        into = max(joined.values(), key=lambda group: len(group[0]), default=(set(), []))
        for group in joined.values():
            groups.pop(id(group))
            if group is not into:
                into[0].update(group[0])
                into[1].extend(group[1])
                group_of.update(dict.fromkeys(group[0], into))
        into[1].append((order, statement))
        new = targets - into[0]
        into[0].update(new)
        group_of.update(dict.fromkeys(new, into))
        groups[id(into)] = into
    return [
        (targets, [statement for _, statement in sorted(assigned, key=lambda each: each[0])])
        for targets, assigned in groups.values()
    ]


class _Positions(dict):
    """Numbers, to their positions in their order."""

    index = dict.__getitem__


def _tree(signals, basic=None):
    """Return the tree of the names of `signals`, each below the names of what was running when it was made. basic: such
    a tree, where nodes are marked that become one for each of their numbers."""
    root, positions = namer._Node(), {}
    for signal in signals:
        node, original = root, basic
        node.signal_count += 1
        for name, number in signal.backtrace:
            key = name
            if original is not None:
                original = original.children[name]
                if original.use_number:
                    key = name, number
            if key not in node.children:
                node.children[key] = namer._Node()
            node = node.children[key]
            node.numbers.add(number)
            if key is not name:
                if original not in positions:
                    positions[original] = _Positions({each: n for n, each in enumerate(sorted(original.numbers))})
                node.all_numbers = positions[original]
            node.signal_count += 1
    return root


def _named(node, name: str = "") -> set[tuple[str, ...]]:
    """Mark the parts of a tree of names that must stand in the names of signals below them; returns those names. A part
    must if one of its siblings has a signal of the same name."""
    below = {key: _named(child, key) for key, child in node.children.items()}
    first = {}
    for key, names in below.items():
        for each in names:
            other = first.setdefault(each, key)
            if other is not key:
                node.children[other].use_name = node.children[key].use_name = True
    found = set()
    for key, names in below.items():
        found |= {(key, *each) for each in names} if node.children[key].use_name else names
    if node.signal_count > sum(child.signal_count for child in node.children.values()):
        node.use_name = True
        found.add((name,))
    return found


verilog.group_by_targets = group_by_targets
namer._build_tree, namer._set_use_name = _tree, _named
