"""A long curve that a client draws: whatever happened, the client ends with the columns of the newest state."""

import asyncio

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kairos.lab.columns import Columns
from kairos.lab.rpc import curves
from kairos.lab.rpc.curves import Curve
from kairos.lab.rpc.protocol import message
from tests.support.dataset_changes import happen

NUMBERS = st.one_of(st.floats(-10, 10), st.just(float("nan")), st.just(float("inf")))
CHANGES = st.one_of(
    st.tuples(st.just("set"), st.sampled_from("ab"), st.lists(NUMBERS, max_size=40)),
    st.tuples(st.just("append"), st.sampled_from("ab"), NUMBERS),
    st.tuples(st.just("assign"), st.sampled_from("ab"), st.integers(-6, 30), NUMBERS),
    st.tuples(st.just("slice"), st.sampled_from("ab"), NUMBERS),
    st.tuples(st.just("delete"), st.sampled_from("ab")),
    st.tuples(st.just("take")),
)


def taken(curve):
    return asyncio.run(curve.take())


def apply(found, seen):
    """Apply what a client receives to the columns that it knows."""
    if found is None:
        return
    if found.init:
        seen.clear()
    x, y, at = numpy.frombuffer(found.x), numpy.frombuffer(found.y), 0
    for number, size in zip(found.columns, found.sizes, strict=True):
        seen[number] = list(zip(x[at : at + size].tolist(), y[at : at + size].tolist(), strict=True))
        at += size
        if not size:
            del seen[number]


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Curves are long from a few points on, and looked at in small parts."""
    monkeypatch.setattr(curves, "LONG", 5)
    monkeypatch.setattr(curves, "PART", 7)


@given(st.lists(CHANGES, max_size=30), st.sampled_from(["", "b"]), st.sampled_from([None, (2.0, 9.0)]))
def check_newest_columns(changes, x, view):
    values, seen = {key: (False, [float(n) for n in range(20)], {}) for key in "ab"}, {}
    ends = {"low": view[0], "high": view[1]} if view else {}
    curve = Curve(values, message("CurveView", y="a", x=x, columns=3, **ends))
    apply(taken(curve), seen)
    for change in changes:
        if change[0] == "take":
            apply(taken(curve), seen)
        elif (one := happen(change, values)) is not None:
            curve.note([one])
    found = taken(curve)
    apply(found, seen)
    assert taken(curve) is None
    lists = [values[key][1] for key in (x, "a") if key and key in values]
    if len(lists) < len(curve.keys) or min(map(len, lists)) <= 5:
        assert curve.long("ab") == frozenset()
        return
    length = min(map(len, lists))
    y = numpy.array(lists[-1][:length])
    across = numpy.array(lists[0][:length]) if x else numpy.arange(length, dtype=float)
    whole = Columns(view, 3)
    if view is None and curve._columns is not None:
        whole._exponent = curve._columns._exponent
    whole.add(across, y)
    wanted = {}
    for number, one, other in zip(*whole.points(), strict=True):
        wanted.setdefault(number, []).append((one, other))
    assert repr(sorted(seen.items())) == repr(
        sorted((float(k), [(float(a), float(b)) for a, b in v]) for k, v in wanted.items())
    )
    assert curve.long(["a", "b", "c"]) == {key for key in "ab" if key in values and len(values[key][1]) > 5}


def test_client_has_the_newest_columns_in_the_end():
    check_newest_columns()


@pytest.mark.parametrize(
    "given",
    [
        ["1", "2"] * 10,
        [1.0, "2"] * 10,
        [1.0, None] * 10,
        [1 << 80] * 20,
        numpy.zeros((20, 2)),
        numpy.zeros(20, complex),
        5.0,
        "text" * 9,
    ],
)
def test_values_that_are_no_curve_are_sent_as_they_are(given):
    curve = Curve({"a": (False, given, {})}, message("CurveView", y="a"))
    assert taken(curve) is None
    assert curve.long(["a"]) == frozenset()


@pytest.mark.parametrize(
    "view",
    [
        {"low": 1.0},
        {"high": 1.0},
        {"low": 2.0, "high": 1.0},
        {"low": 0.0, "high": float("inf")},
        {"low": float("nan"), "high": 1.0},
    ],
)
def test_view_that_makes_no_sense_is_refused(view):
    with pytest.raises(ValueError, match="part of the x axis"):
        Curve({}, message("CurveView", y="a", **view))


def test_zoomed_view_of_numbered_points_reads_only_those_in_sight():
    class Noted(list):
        looked = 0

        def __getitem__(self, index):
            found = super().__getitem__(index)
            Noted.looked += len(found) if isinstance(index, slice) else 1
            return found

    values = {"a": (False, Noted([0.0] * 100_000), {})}
    curve = Curve(values, message("CurveView", y="a", low=50_000.5, high=50_010, columns=100))
    found = taken(curve)
    assert list(numpy.frombuffer(found.x)) == [float(n) for n in range(50_000, 50_012)]
    assert (found.length, list(found.extent)) == (100_000, [0.0, 99_999.0])
    assert Noted.looked < 100
