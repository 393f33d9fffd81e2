"""Tables on standard output."""

import shutil
import sys

from ..waveform.table import aligned

__all__ = ["print_aligned", "print_table"]


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
