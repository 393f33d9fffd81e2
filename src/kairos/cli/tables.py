"""Tables and lines of JSON for standard output."""

import json
import math
import shutil
import sys

from ..waveform.table import aligned

__all__ = ["json_line", "plain_value", "print_aligned", "print_table"]


def json_line(fields: dict) -> str:
    """Return a line of JSON. A number that is not finite is null, what JSON has no type for is text; so are the keys
    of dictionaries."""
    return json.dumps(plain_value(fields, repr), allow_nan=False)


def plain_value(value, other=lambda value: None):
    """Return a value in JSON's types: None for a number that is not finite, ``other(value)`` for what has no such
    type."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain_value(part, other) for part in value]
    if isinstance(value, dict):
        return {str(key): plain_value(part, other) for key, part in value.items()}
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, bool | int | str | None) else other(value)


def print_aligned(names, rows, left: int, empty: str):
    """Print rows below the names of their columns and a rule, the first `left` columns left aligned. Without rows:
    the line `empty`."""
    rows = list(rows)
    print("\n".join(aligned([names, *rows], left=left)) if rows else empty)


def print_table(names, rows, empty: str):
    """Print rows below the names of their columns; None is empty. On a terminal lines are cut at
    its width. Without rows: the line `empty`, so that nothing is not taken for a command that did not work."""
    rows = list(rows)
    if not rows:
        print(empty)
        return
    texts = [["" if cell is None else str(cell).partition("\n")[0] for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(names, *texts, strict=True)]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for row in (names, *texts):
        line = "  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip()
        print(line[:width])
