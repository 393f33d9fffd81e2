"""Output of ``kairos hub watch``: lines, or on a terminal a table that is updated in place."""

import json
import shutil
import sys
import time

from ..waveform.table import aligned
from .printed import styled

__all__ = ["shown"]

_UP = "\x1b[{}F"
"""Moves to the beginning of a preceding line (ECMA-48, 8.3.20)."""
_BLANK = "\x1b[K"
"""Erases the rest of the line (8.3.41)."""


def shown(names: list[str], readings, as_json: bool):
    """Print readings, each (Unix time in seconds, values), of registers with these names as they
    arrive.

    As JSON one object per line; on a sufficiently large terminal one table, with the time of each
    value's last change; else one line each.
    """
    if as_json:
        for when, values in readings:
            print(json.dumps({"time": when, **dict(zip(names, values, strict=True))}), flush=True)
    elif sys.stdout.isatty() and len(names) + 4 <= shutil.get_terminal_size().lines:
        _table(names, readings)
    else:
        _lines(names, readings)


def _clock(when: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(when)) + f".{int(when * 1000) % 1000:03}"


def _lines(names, readings):
    header = True
    for when, values in readings:
        if header:
            print("  ".join(["time        ", *names]))
            header = False
        print("  ".join([_clock(when), *(f"{v:>{len(n)}}" for v, n in zip(values, names, strict=True))]), flush=True)


def _table(names, readings):
    before, changed, height = [None] * len(names), [""] * len(names), 0
    for when, values in readings:
        for n, (old, new) in enumerate(zip(before, values, strict=True)):
            if old is not None and old != new:
                changed[n] = _clock(when)
        rows = [("register", "value", "hexadecimal", "changed")]
        rows += [(name, f"{v}", f"{v:#x}", at) for name, v, at in zip(names, values, changed, strict=True)]
        lines = [*aligned(rows, left=1), _clock(when)]
        styled((_UP.format(height) if height else "") + "".join(f"{line}{_BLANK}\n" for line in lines))
        sys.stdout.flush()
        before, height = values, len(lines)
