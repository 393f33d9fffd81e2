"""Long curves for a screen: of all points in a column of pixels, those by which it looks as with all of them.

A column keeps its first point, those with the lowest and the highest value, and its last one, in the order
of x. Points may come in any order and in parts; what is kept depends on all of them only. A point whose
value is not finite is a gap, which is kept before the first and after the last point of its column.
"""

import math

import numpy

__all__ = ["MOST", "Columns"]

MOST = 8192
"""Columns of a view at most."""


class Columns:
    """The columns of a curve. `view`: the part of the x axis in sight, in `count` columns from 0; column -1
    and column `count` are what is on either side. None: all points, in at most twice `count` columns, whose
    width is a power of two and doubles when the curve has grown out of them."""

    def __init__(self, view: tuple[float, float] | None, count: int):
        self.count = max(1, min(count, MOST))
        self.view = view
        self.extent: tuple[float, float] | None = None
        """Lowest and highest place of all points so far."""
        self.renewed = True
        """Whether the columns have been divided anew; reset by the user."""
        self._exponent: int | None = None
        self._x = self._y = numpy.empty(0)
        """What is kept, in the order of x."""

    def add(self, x: numpy.ndarray, y: numpy.ndarray) -> numpy.ndarray:
        """Add points, float64, which are newer than all before. Returns the numbers of their columns."""
        placed = numpy.isfinite(x)
        if not placed.all():
            x, y = x[placed], y[placed]
        if not len(x):
            return x
        low, high = float(x.min()), float(x.max())
        if self.extent:
            low, high = min(low, self.extent[0]), max(high, self.extent[1])
        self.extent = low, high
        if self.view is None and (exponent := _exponent(low, high, self.count, self._exponent)) != self._exponent:
            self._exponent, self.renewed = exponent, True
        if not _rises(x):
            order = numpy.argsort(x, kind="stable")
            x, y = x[order], y[order]
        x, y = _reduced(self._numbers(x), x, y)
        touched = numpy.unique(self._numbers(x))
        x, y = numpy.concatenate([self._x, x]), numpy.concatenate([self._y, y])
        if not _rises(x):
            order = numpy.argsort(x, kind="stable")
            x, y = x[order], y[order]
        self._x, self._y = _reduced(self._numbers(x), x, y)
        return touched

    def discard(self, x: numpy.ndarray) -> tuple[numpy.ndarray, float, float]:
        """Remove the columns of these finite places, whose points are added again. Returns their numbers, and
        the lowest and highest place of a point in them; (inf, -inf) without any."""
        gone = numpy.unique(self._numbers(x))
        stay = ~numpy.isin(self._numbers(self._x), gone)
        away = self._x[~stay]
        self._x, self._y = self._x[stay], self._y[stay]
        return gone, *((float(away[0]), float(away[-1])) if len(away) else (math.inf, -math.inf))

    def among(self, x: numpy.ndarray, numbers: numpy.ndarray) -> numpy.ndarray:
        """Return which of these places are in one of the columns."""
        return numpy.isin(self._numbers(x), numbers)

    def points(self) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
        """Return numbers of columns, places and values of the points that are drawn, in the order of x."""
        numbers, x, y = self._numbers(self._x), self._x, self._y
        if self.view is None:
            return numbers, x, y
        drawn = (numbers >= 0) & (numbers < self.count)
        # Lines come from the nearest point on each side, unless a gap is between.
        before, after = numpy.flatnonzero(numbers < 0)[-1:], numpy.flatnonzero(numbers >= self.count)[:1]
        drawn[before] = drawn[after] = True
        return numbers[drawn], x[drawn], y[drawn]

    def _numbers(self, x: numpy.ndarray) -> numpy.ndarray:
        """Return the columns of places."""
        if self.view is None:
            return numpy.floor(numpy.ldexp(x, -(self._exponent or 0)))
        low, high = self.view
        if low == high:
            found = numpy.zeros(len(x))
        else:
            # Without overflow, however far away a place is.
            inside = numpy.clip(x, low, high)
            found = numpy.clip(
                numpy.floor((inside / 2 - low / 2) / (high / 2 - low / 2) * self.count), 0, self.count - 1
            )
        found[x < low] = -1
        found[x > high] = self.count
        return found


def _exponent(low: float, high: float, count: int, known: int | None) -> int:
    """Return the exponent of the width of columns by which an extent has at most twice `count`; not less
    than the one known."""
    span = high / 2 - low / 2
    least = math.frexp(max(abs(low), abs(high)))[1] - 53 if known is None else known
    if span <= 0:
        return least
    mantissa, exponent = math.frexp(span / count)  # half the span, so that twice the count fits
    return max(least, exponent - (mantissa == 0.5))


def _rises(x: numpy.ndarray) -> bool:
    return bool((x[1:] >= x[:-1]).all())


def _reduced(numbers: numpy.ndarray, x: numpy.ndarray, y: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return what is kept of points in the order of x, by the numbers of their columns."""
    column = numpy.concatenate([[0], numpy.cumsum(numbers[1:] != numbers[:-1])])
    finite = numpy.isfinite(y)
    kept = numpy.zeros(len(x), dtype=bool)
    if finite.all():
        kept[_extremes(column, y)] = True
        return x[kept], y[kept]
    points, gaps = numpy.flatnonzero(finite), numpy.flatnonzero(~finite)
    # By column: indices of its first and last point.
    first, last = numpy.full(column[-1] + 1, len(x)), numpy.full(column[-1] + 1, -1)
    if len(points):
        kept[points[_extremes(column[points], y[points])]] = True
        starts, ends = _bounds(column[points])
        first[column[points[starts]]], last[column[points[ends]]] = points[starts], points[ends]
    starts, ends = _bounds(column[gaps])
    early, late = gaps[starts], gaps[ends]
    kept[early[early < first[column[early]]]] = True
    kept[late[late > last[column[late]]]] = True
    return x[kept], numpy.where(finite, y, numpy.nan)[kept]


def _bounds(column: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return the indices at which columns begin, and those at which they end."""
    turns = numpy.flatnonzero(column[1:] != column[:-1])
    return numpy.concatenate([[0], turns + 1]), numpy.concatenate([turns, [len(column) - 1]])


def _extremes(column: numpy.ndarray, y: numpy.ndarray) -> numpy.ndarray:
    """Return the indices of the first, lowest, highest and last point of each column; of equal ones the first."""
    starts, ends = _bounds(column)
    found = [starts, ends]
    sizes = ends - starts + 1
    for of in (numpy.minimum, numpy.maximum):
        at = numpy.flatnonzero(y == numpy.repeat(of.reduceat(y, starts), sizes))
        begins, _ = _bounds(column[at])
        found.append(at[begins])
    return numpy.concatenate(found)
