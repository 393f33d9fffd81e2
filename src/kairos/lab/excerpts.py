"""The lines of source that the error of a run names, as they were when it ran."""

import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from .. import resultfiles
from ..errors import UsageError
from ..experiment.hdf5 import texts_of

__all__ = ["NOW", "OWN", "PLACE", "STORED", "Excerpt", "excerpts", "stored_sources"]

PLACE = re.compile(
    r'^ *File "(?P<file>[^"\n]+)", line (?P<line>\d+)(?:, column \d+)?(?:, in (?P<function>.+?))?(?: \(RA=.*\))?$', re.M
)
"""A place in a traceback, of Python or of a kernel."""
AROUND = 3
"""Lines before and after the one that is named."""
MOST = 12
"""Places that are shown: those of a recursion say nothing more."""
OWN = "experiment.py"
"""Name of the file of a run that was submitted as text."""
STORED, NOW = "run", "now"
"""Origins of a text besides a commit: stored with the run; the file as it is now."""


class Excerpt(NamedTuple):
    """A line of a file with those around it, of which `first` is the number of the first one; `lines` are empty if its
    source is not known. `origin`: `STORED`, `NOW`, or a commit."""

    file: str
    line: int
    function: str
    first: int
    lines: tuple[str, ...]
    origin: str


def excerpts(error: str, text_of: Callable[[str], tuple[str, str | None, str]]) -> list[Excerpt]:
    """Return the places that an error names, in its order. `text_of(file)`: returns the name of a file for people, its
    text, if that is known, and where that is from."""
    found: dict[tuple[str, int], Excerpt] = {}
    for place in PLACE.finditer(error):
        file, line = place["file"], int(place["line"])
        if (file, line) in found:
            continue
        name, text, origin = text_of(file)
        # As Python counts them: a form feed ends no line.
        lines = [each.rstrip("\n") for each in StringIO(text or "", newline=None)]
        first = max(1, line - AROUND)
        # Of a file that has become shorter, the line is not there any more.
        some = tuple(lines[first - 1 : line + AROUND]) if line <= len(lines) else ()
        found[file, line] = Excerpt(name, line, _function(place["function"]), first, some, origin if some else "")
        if len(found) == MOST:
            break
    return list(found.values())


def _function(name: str | None) -> str:
    return "" if name in (None, "<module>") else str(name)


def stored_sources(path: Path, main: str) -> dict[str, str]:
    """Return the sources in a run's file by their names: that of the experiment, `main`, and of what it has imported;
    empty if it has none."""
    found: dict[str, str] = {}
    try:
        with resultfiles.opened(path) as file:
            group = resultfiles.group_of(file, "provenance") or {}
            if "experiment" in group:
                found[main] = resultfiles.text(group["experiment"])
            found |= texts_of(resultfiles.group_of(group, "imported"))
    except UsageError:
        return {}
    return found
