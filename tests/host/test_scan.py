"""Scan objects and the argument type for scans."""

import random

from hypothesis import given
from hypothesis import strategies as st

from kairos.experiment import CenterScan, ExplicitScan, MultiScanManager, NoScan, RangeScan, Scannable


def test_each_kind_of_scan_has_its_points():
    assert list(NoScan(3, 2)) == [3, 3]
    assert list(RangeScan(0, 1, 5)) == [0, 0.25, 0.5, 0.75, 1]
    assert list(RangeScan(7, 9, 1)) == [7] and list(RangeScan(7, 9, 0)) == []
    assert list(CenterScan(10, 4, 1)) == [10, 9, 11, 8, 12]
    assert list(CenterScan(10, 4, 0)) == []
    assert list(ExplicitScan([3, 1])) == [3, 1]


def test_random_order_of_a_scan_follows_its_seed():
    expected = [0.0, 1.0, 2.0, 3.0]
    random.Random(5).shuffle(expected)
    scan = RangeScan(0.0, 3.0, 4, randomize=True, seed=5)
    assert list(scan) == expected == list(scan), "a scan can be iterated again"


def test_product_scan_covers_all_combinations():
    points = MultiScanManager(("a", ExplicitScan([1, 2])), ("b", ExplicitScan([3, 4])))
    assert [(p.a, p.b) for p in points] == [(1, 3), (1, 4), (2, 3), (2, 4)]


@given(st.floats(-1e3, 1e3), st.floats(0, 1e3), st.floats(0.1, 1e3), st.integers(0, 50))
def test_described_scan_is_restored_by_its_argument(center, span, step, points):
    argument = Scannable(NoScan(0))
    for scan in (CenterScan(center, span, step), RangeScan(center, span, points, True, 3), NoScan(center, 2)):
        again = argument.process(scan.describe())
        assert list(again) == list(scan) and len(again) == len(list(scan))


def test_scannable_argument_describes_scans_with_unit():
    scannable = Scannable([RangeScan(0, 1, 3), NoScan(1)], unit="us")
    assert isinstance(scannable.default(), RangeScan)
    assert scannable.describe()["scale"] == 1e-6 and len(scannable.describe()["default"]) == 2
