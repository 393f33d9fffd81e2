"""Tables on standard output."""

import shutil
import sys

__all__ = ["print_table"]


def print_table(names, rows):
    """Print rows below the names of their columns; None is empty. On a terminal lines are cut at
    its width."""
    texts = [["" if cell is None else str(cell).partition("\n")[0] for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(names, *texts, strict=True)]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for row in (names, *texts):
        line = "  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip()
        print(line[:width])
