"""The steps of kernels: at each of their calls of the firmware, what the emulator has recorded of registers and memory,
read with the debug information of their libraries."""

from collections.abc import Sequence
from dataclasses import dataclass

from .. import _native

__all__ = ["Function", "Step", "steps_in"]


@dataclass(frozen=True)
class Function:
    """A function that had not returned."""

    file: str
    line: int
    name: str
    variables: tuple[tuple[str, str], ...]
    """Names and values, as Python would write them; those that the processor no longer had are missing."""


@dataclass(frozen=True)
class Step:
    """A call of the firmware."""

    time_ns: int
    """Since power-up."""
    functions: tuple[Function, ...]
    """Innermost first."""


def steps_in(recording: bytes, libraries: dict[str, bytes]) -> Sequence[Step]:
    """Return the steps in a recording, in order. libraries: with debug information, by fingerprint."""
    found = []
    for time_ns, functions in _native.steps(recording, libraries):
        own = [Function(file, line, name, tuple(variables)) for file, line, name, variables in functions]
        if own:
            found.append(Step(time_ns, tuple(own)))
    return found
