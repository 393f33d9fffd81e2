"""How far runs are: the points of scans, and those that a run has made."""

import pytest

from kairos.experiment.scan import CenterScan, ExplicitScan, NoScan, RangeScan
from kairos.lab.progress import asked_points
from tests.support.waiting import until

SCANS = RangeScan(0, 1, 7), NoScan(2, 3), CenterScan(0, 10, 1), ExplicitScan([1, 5, 2]), CenterScan(0, 1, 0)


@pytest.mark.parametrize("scan", SCANS)
def test_points_of_a_scan_are_counted_as_many_as_it_has(scan):
    assert asked_points({"arguments": {"x": scan.describe(), "n": 4}}, {}) == len(scan)


def test_points_of_several_scans_multiply_with_their_defaults():
    arginfo = {
        "x": ({"ty": "Scannable", "default": [RangeScan(0, 1, 7).describe()]}, None, None),
        "y": ({"ty": "Scannable", "default": [NoScan(2, 3).describe()]}, None, None),
        "n": ({"ty": "NumberValue", "default": 5}, None, None),
    }
    assert asked_points({}, arginfo) == 21
    assert (
        asked_points({"arguments": {"x": {"ty": "RangeScan", "start": 0, "stop": 1, "npoints": 10**12}}}, arginfo)
        == 3 * 10**12
    )
    assert asked_points({"arguments": {"n": 4}}, {}) == 0


@pytest.mark.parametrize("given", [{"ty": "RangeScan"}, {"ty": "RangeScan", "npoints": "many"}, {"ty": "Other"}, [1]])
def test_argument_that_is_no_scan_asks_for_no_points(given):
    assert asked_points({"arguments": {"x": given}}, {}) == 0


def test_queue_reports_the_points_that_a_run_has_made(lab):
    rid = lab.run_of("Patient", name="long")
    until(lambda: lab.counted("long") > 3 and lab.queue()[0]["points"] > 3)
    assert lab.queue()[0]["asked_points"] == 0
    lab.release_run("long")
    lab.ends(rid)
