"""Theory curves: what the twin has measured in the rehearsal of a run, as datasets of the run beside its data.

They are called like the run's own, with ``theory.`` before. A run gets them when its rehearsal has ended: as it begins,
or with its next point.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # the laboratory, which only needs a name, loads no twin
    from ..twin.rehearsal import Rehearsal

__all__ = ["PREFIX", "Theory", "curves"]

PREFIX = "theory."
LARGEST = 100_000
"""Elements of a curve."""
MOST = 100
"""Curves of a run."""


def curves(found: "Rehearsal") -> dict[str, tuple[Any, dict]]:
    """Return the lists and arrays of numbers that a rehearsal has set, each with its metadata, by key."""
    chosen: dict[str, tuple[Any, dict]] = {}
    for key, value in found.datasets.items():
        if not isinstance(value, list | np.ndarray) or len(chosen) == MOST:
            continue
        try:
            array = np.asarray(value)
        except ValueError:
            continue  # lists of different lengths
        if array.dtype.kind in "biufc" and array.ndim and 1 < array.size <= LARGEST:
            chosen[key] = (array, found.metadata.get(key, {}))
    return chosen


class Theory:
    """The curves of a run, in its process. `dataset(key, value, metadata)`: sets one. Received by the thread of the
    connection, they are set by that of the experiment, whose datasets nobody else changes."""

    def __init__(self, dataset: Callable[[str, Any, dict], None]):
        self._dataset = dataset
        self._waiting: dict[str, tuple[Any, dict]] | None = None

    def receive(self, found: dict[str, tuple[Any, dict]] | None):
        """Take the curves that the laboratory sends."""
        self._waiting = found

    def set(self):
        """Set the curves that have arrived."""
        found, self._waiting = self._waiting, None
        for key, (value, metadata) in (found or {}).items():
            self._dataset(PREFIX + key, value, metadata)
