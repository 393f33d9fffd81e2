"""Long curves for a screen: what is kept of them covers the same pixels, however the points have come."""

import math

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kairos.lab.columns import Columns

PLACES = st.one_of(st.integers(0, 50).map(float), st.floats(-1e3, 1e3), st.floats(), st.floats(1.7e9, 1.7e9 + 1e-3))
VALUES = st.one_of(st.integers(-5, 5).map(float), st.floats())
POINTS = st.lists(st.tuples(PLACES, VALUES), max_size=80)


def of(points):
    return numpy.array([x for x, _ in points], dtype=float), numpy.array([y for _, y in points], dtype=float)


def in_order(points):
    """Return points in the order in which they are drawn."""
    x, y = of(points)
    placed = numpy.isfinite(x)
    order = numpy.argsort(x[placed], kind="stable")
    return x[placed][order], y[placed][order]


def pixels(numbers, x, y):
    """Return what a line covers: from where to where in each column, and which points lines join between columns."""
    covered, joined, before = {}, set(), None
    for number, across, up in zip(numbers, x, y, strict=True):
        if not math.isfinite(up):
            before = None
            continue
        low, high = covered.get(number, (up, up))
        covered[number] = min(low, up), max(high, up)
        if before is not None and before[0] != number:
            joined.add((*before, number, across, up))
        before = (number, across, up)
    return covered, joined


@given(
    POINTS, st.one_of(st.none(), st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)).map(sorted)), st.integers(1, 8)
)
def test_kept_points_cover_the_pixels_of_all_points(points, view, count):
    columns = Columns(view and tuple(view), count)
    columns.add(*of(points))
    numbers, x, y = columns.points()
    all_x, all_y = in_order(points)
    covered, joined = pixels(columns._numbers(all_x), all_x, all_y)
    seen, lines = pixels(numbers, x, y)
    inside = lambda number: view is None or 0 <= number < count  # noqa: E731
    assert {n: v for n, v in seen.items() if inside(n)} == {n: v for n, v in covered.items() if inside(n)}
    assert lines == {line for line in joined if inside(line[0]) or inside(line[3]) or {line[0], line[3]} == {-1, count}}
    assert len(numpy.unique(numbers)) <= 2 * count + 2
    assert all(6 >= size for size in numpy.unique(numbers, return_counts=True)[1])


@given(POINTS, st.one_of(st.none(), st.just((0.0, 10.0))), st.integers(1, 8), st.lists(st.integers(1, 20), max_size=9))
def test_points_that_come_in_parts_leave_the_same(points, view, count, parts):
    parted, whole = Columns(view, count), Columns(view, count)
    whole.add(*of(points))
    at = 0
    for size in [*parts, len(points)]:
        parted.add(*of(points[at : at + size]))
        at += size
    if view is None and parted._exponent != whole._exponent:
        return  # a curve that has begun far from zero has wider columns only if it was asked about early
    for one, other in zip(parted.points(), whole.points(), strict=True):
        numpy.testing.assert_array_equal(one, other)


@given(POINTS.filter(bool), st.integers(1, 8), st.data())
def test_discarded_columns_are_as_new(points, count, data):
    columns = Columns((0.0, 40.0), count)
    columns.add(*of(points))
    at = data.draw(st.integers(0, len(points) - 1))
    changed = [*points]
    changed[at] = (points[at][0], data.draw(VALUES))
    x, y = of(changed)
    if not math.isfinite(x[at]):
        return
    gone, low, high = columns.discard(x[at : at + 1])
    again = numpy.isfinite(x) & columns.among(x, gone)
    assert low == x[again].min() and high == x[again].max()
    columns.add(x[again], y[again])
    whole = Columns((0.0, 40.0), count)
    whole.add(x, y)
    for one, other in zip(columns.points(), whole.points(), strict=True):
        numpy.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("span", [(0.0, 1e6), (1.7e9, 1.7e9 + 1e-3), (-1e308, 1e308), (0.0, 5e-324), (3.0, 3.0)])
def test_all_points_have_from_one_to_two_columns_per_pixel(span):
    columns = Columns(None, 100)
    x = numpy.linspace(span[0] / 2, span[1] / 2, 10_000) * 2
    columns.add(x, numpy.zeros(10_000))
    assert len(numpy.unique(columns.points()[0])) <= 202
    if span == (0.0, 1e6):
        assert len(numpy.unique(columns.points()[0])) >= 100


def test_a_growing_curve_changes_only_its_last_columns():
    columns = Columns(None, 100)
    columns.add(numpy.arange(100_000.0), numpy.zeros(100_000))
    columns.renewed = False
    touched = columns.add(numpy.arange(100_000.0, 101_000.0), numpy.ones(1000))
    assert len(touched) <= 3 and not columns.renewed
