"""The steps of kernels: at each of their calls of the firmware, what the emulator has recorded of registers and memory,
read with the debug information of their libraries."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .. import _native
from ..language import units

__all__ = ["Function", "Step", "steps_in"]


class Function(NamedTuple):
    """A function that had not returned."""

    file: str
    line: int
    name: str
    variables: tuple[tuple[str, str], ...]
    """Names and values, as Python would write them, constants that the function names at the end; those that the
    processor no longer had are missing."""


class Step(NamedTuple):
    """A call of the firmware."""

    time_ns: int
    """Since power-up."""
    functions: tuple[Function, ...]
    """Innermost first."""
    board: str = ""
    """The board of the kernel; empty if there is only one."""


def steps_in(recordings: Mapping[str, bytes], libraries: dict[str, bytes]) -> Sequence[Step]:
    """Return the steps in the recordings of boards, in order of time. libraries: with debug information, by
    fingerprint."""
    found = []
    for board, recording in recordings.items():
        for time_ns, functions in _native.steps(recording, libraries):
            own = [Function(file, line, name, _shown(variables)) for file, line, name, variables in functions]
            if own:
                found.append(Step(time_ns, tuple(own), board))
    return sorted(found, key=lambda step: step.time_ns)


COMPREHENSION = "#"
"""Before the number of a comprehension, in the names of its variables."""


def _shown(variables) -> tuple[tuple[str, str], ...]:
    """Leave out what the compiler has named, which contains a blank, and units (but those of one letter, which may be
    variables), whose values everyone knows. Variables of comprehensions have the names that they have there."""
    own = {name for name, _ in variables}
    found = []
    for name, value in variables:
        plain, separator, _ = name.partition(COMPREHENSION)
        if separator:
            name = f"{plain} (comprehension)" if plain in own else plain
        if " " not in plain and (len(name) == 1 or not _is_unit(name, value)):
            found.append((name, value))
    return tuple(found)


def _is_unit(name: str, value: str) -> bool:
    factor = getattr(units, name, None)
    try:
        return isinstance(factor, float) and float(value) == factor
    except ValueError:
        return False
