"""A curve that a client draws: while it is long, its columns of pixels in place of its points.

What a client costs is bounded: memory by the number of its columns, processor time by a rest after each
response, and other clients wait for no more than a part of the points.
"""

import asyncio
import math
import numbers
import time
from contextlib import contextmanager

import numpy

from ..columns import Columns
from .changes import distinct
from .protocol import message

__all__ = ["Curve"]

LONG = 20_000
"""A curve with more points has columns."""
WIDTH = 1024
"""Columns, if the client does not say how many."""
PART = 100_000
"""Points that are looked at without a pause."""
ASSIGNED = 4096
"""Elements whose columns are looked at again; if more were replaced, all are."""
REST = 9
"""Rest after a response, as a multiple of its processor time."""


class Curve:
    """The curve that a CurveView asks for, of `values`: all datasets by key. ValueError for one that makes no sense."""

    def __init__(self, values: dict, view):
        if not view.y:
            raise ValueError("a curve has a dataset with its values")
        if view.HasField("low") != view.HasField("high"):
            raise ValueError("a part of the x axis has a beginning and an end")
        self._values, self._y, self._x = values, view.y, view.x
        self._view = (view.low, view.high) if view.HasField("low") else None
        if self._view and not (math.isfinite(view.low) and math.isfinite(view.high) and view.low <= view.high):
            raise ValueError("a part of the x axis has two finite ends in their order")
        self._count = view.columns or WIDTH
        self.keys = frozenset([view.y, view.x] if view.x else [view.y])
        self._columns: Columns | None = None
        """None: there is nothing yet that would be right."""
        self._taken = 0
        """Number of points in the columns."""
        self._assigned: set[int] = set()
        self._sent: dict[float, tuple[bytes, bytes]] = {}
        """By column: places and values of its points as the client has them."""
        self._reported: tuple | None = None
        self._refused = False
        """Whether the datasets are no curve, though they seem so at first sight."""
        self._spent = 0.0

    def note(self, changes: list[dict]):
        """Note changes as `Publication.changed` gets them."""
        for path, key, change in distinct(changes):
            if key not in self.keys:
                continue
            index = change.get("key")
            element = len(path) == 2 and path[1] == 1
            if element and change["action"] == "append":
                continue
            if (
                element
                and change["action"] == "setitem"
                and type(index) is int
                and index >= 0
                and key == self._y != self._x
            ):
                self._assigned.add(index)
            else:
                self._columns, self._refused = None, False
        if len(self._assigned) > ASSIGNED:
            self._columns = None
            self._assigned.clear()

    def long(self, keys) -> frozenset[str]:
        """Return which of these datasets are sent without their values."""
        if not self._is_long():
            return frozenset()
        return frozenset(key for key in keys if key in self._values and _length(self._values[key][1]) > LONG)

    async def take(self):
        """Return the columns that have changed, as a message; None without any."""
        self._spent = 0.0
        if not self._is_long():
            self._columns = None
            return None
        try:
            columns, touched = await self._catch_up()
        except (TypeError, ValueError, OverflowError):
            self._columns, self._refused = None, True
            return None
        with self._timed():
            return self._message(columns, touched)

    async def rest(self):
        """Wait as befits what the last response has cost."""
        await asyncio.sleep(REST * self._spent)

    def _is_long(self) -> bool:
        return not self._refused and self._length() > LONG

    def _length(self) -> int:
        """Return the number of points; 0 if the datasets are no curve."""
        if any(key not in self._values for key in self.keys):
            return 0
        return min(_length(self._values[key][1]) for key in self.keys)

    async def _catch_up(self) -> tuple[Columns, set[float]]:
        """Take what has come. Returns the columns, and the numbers of those that may have changed."""
        if self._columns is None:
            self._columns, self._taken = Columns(self._view, self._count), 0
            self._assigned.clear()
        columns, touched, end = self._columns, set(), self._length()
        # What is set meanwhile is another value, which comes next.
        y, x = self._values[self._y][1], self._values[self._x][1] if self._x else None
        begin, self._taken = self._taken, end
        assigned = [at for at in self._assigned if at < begin]
        self._assigned.clear()
        if assigned:
            places = _places(x, numpy.array(assigned))
            gone, low, high = columns.discard(places[numpy.isfinite(places)])
            touched.update(gone.tolist())
            # Numbered points of a column follow one another.
            near = range(begin) if x is not None else range(int(min(low, begin)), int(max(high, -1)) + 1)
            async for across, up in self._parts(x, y, near):
                again = columns.among(across, gone)
                columns.add(across[again], up[again])
        async for across, up in self._parts(x, y, range(begin, end)):
            touched.update(columns.add(across, up).tolist())
        if x is None:
            columns.extent = (0.0, end - 1.0)
        return columns, touched

    async def _parts(self, x, y, points: range):
        """Yield places and values of points, with a pause after each part. Of numbered points those out of sight
        are left out, but for one on each side."""
        if x is None and self._view:
            low, high = (min(max(end, -2.0), float(points.stop)) for end in self._view)
            points = range(max(points.start, math.ceil(low) - 1), min(points.stop, math.floor(high) + 2))
        for begin in range(points.start, points.stop, PART):
            part = slice(begin, min(begin + PART, points.stop))
            with self._timed():
                yield (
                    _floats(x[part]) if x is not None else numpy.arange(part.start, part.stop, dtype=float),
                    _floats(y[part]),
                )
            await asyncio.sleep(0)

    @contextmanager
    def _timed(self):
        begun = time.perf_counter()
        yield
        self._spent += time.perf_counter() - begun

    def _message(self, columns: Columns, touched: set[float]):
        """Return the columns that have changed as a message; None without any."""
        numbers, x, y = columns.points()
        init, columns.renewed = columns.renewed, False
        if init:
            self._sent.clear()
        elif touched:
            wanted = numpy.isin(numbers, numpy.fromiter(touched, dtype=float))
            numbers, x, y = numbers[wanted], x[wanted], y[wanted]
        else:
            return None
        found, starts, sizes = numpy.unique(numbers, return_index=True, return_counts=True)
        changed = {}
        for number, start, size in zip(found.tolist(), starts.tolist(), sizes.tolist(), strict=True):
            now = x[start : start + size].tobytes(), y[start : start + size].tobytes()
            if self._sent.get(number) != now:
                changed[number] = self._sent[number] = now
        for number in touched.difference(found.tolist()):
            if self._sent.pop(number, None):
                changed[number] = (b"", b"")
        if not init and not changed and self._reported == (self._taken, columns.extent):
            return None
        self._reported = (self._taken, columns.extent)
        order = sorted(changed)
        return message(
            "CurveColumns",
            init=init,
            length=self._taken,
            extent=columns.extent or (),
            columns=order,
            sizes=[len(changed[number][0]) // 8 for number in order],
            x=b"".join(changed[number][0] for number in order),
            y=b"".join(changed[number][1] for number in order),
        )


def _length(given) -> int:
    """Return the number of elements of a list or array of numbers; 0 for anything else."""
    if isinstance(given, numpy.ndarray):
        return len(given) if given.ndim == 1 and given.dtype.kind in "biuf" else 0
    if isinstance(given, list) and given and isinstance(given[0], numbers.Real | numpy.bool_):
        return len(given)
    return 0


def _places(x, indices: numpy.ndarray) -> numpy.ndarray:
    return indices.astype(float) if x is None else _floats([x[index] for index in indices.tolist()])


def _floats(given) -> numpy.ndarray:
    """Return numbers as float64; TypeError if they are none."""
    found = numpy.asarray(given)
    if found.dtype.kind not in "biuf":
        raise TypeError("these are no numbers")
    return found.astype(float)
