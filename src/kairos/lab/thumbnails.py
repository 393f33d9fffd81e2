"""What the plots of a run look like from afar: few points of one of its datasets."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .. import resultfiles

__all__ = ["Thumbnail", "thumbnail"]

COLUMNS = 48
"""Columns of a curve; of each the least and the greatest value are kept."""
SIDE = 32
"""Elements of an image along each side, at most."""
LARGEST = 4 << 20
"""Elements of a dataset that is read for this."""


class Thumbnail(NamedTuple):
    """A curve of the dataset `y` against `x` (empty: its index), `places` rising; or an image, whose rows have `width`
    elements, without places. Without `y` there is nothing to draw."""

    y: str = ""
    x: str = ""
    places: np.ndarray = np.empty(0)
    values: np.ndarray = np.empty(0)
    width: int = 0


def thumbnail(path: Path, choices: Iterable[tuple[str, str]] = ()) -> Thumbnail:
    """Return the thumbnail of a run's file; UsageError if it cannot be read. `choices`: names of `y` and `x`, of which
    the first is drawn whose `y` the run has; without one, the first curve that is no axis, or the first image."""
    with resultfiles.opened(path) as file:
        every = resultfiles.datasets(resultfiles.group_of(file, "datasets"))
        found = {
            name: node for name, node in every if node.dtype.kind in "iuf" and node.shape and 1 < node.size <= LARGEST
        }
        for y, x in choices:
            if y in found:
                return _drawn(found, y, x if x in found else "")
        curves = {name: resultfiles.value(node) for name, node in found.items() if len(node.shape) == 1}
        axes = [name for name, values in curves.items() if (np.diff(values) > 0).all()]
        for name in [*(name for name in curves if name not in axes), *axes]:
            x = next((each for each in axes if each != name and len(curves[each]) == len(curves[name])), "")
            return _drawn(found, name, x)
        return next((_drawn(found, name, "") for name, node in found.items() if len(node.shape) == 2), Thumbnail())


def _drawn(found: dict, y: str, x: str) -> Thumbnail:
    values = np.asarray(resultfiles.value(found[y]), float)
    if values.ndim == 2:
        rows, width = (-(-length // SIDE) for length in values.shape)
        small = values[::rows, ::width]
        return Thumbnail(y, "", np.empty(0), small.ravel(), small.shape[1])
    if values.ndim != 1:
        return Thumbnail()
    places = np.asarray(resultfiles.value(found[x]), float) if x else np.arange(len(values), dtype=float)
    if places.ndim != 1:
        x, places = "", np.arange(len(values), dtype=float)
    length = min(len(places), len(values))
    kept = np.flatnonzero(np.isfinite(places[:length]))
    order = kept[np.argsort(places[kept], kind="stable")]
    return Thumbnail(y, x, *_shortened(places[order], values[order]))


def _shortened(places: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the greatest value of each column, in the order in which they come."""
    if len(places) <= 2 * COLUMNS:
        return places, values
    chosen = []
    for part in np.array_split(np.arange(len(values)), COLUMNS):
        finite = part[np.isfinite(values[part])]
        some = finite if len(finite) else part
        chosen += sorted({int(some[values[some].argmin()]), int(some[values[some].argmax()])})
    return places[chosen], values[chosen]
