"""Each conformance check of the pulse core has a numbered test, for logic and model, or a reason for its absence."""

import pytest

from .pulse_checks import ELSEWHERE, NUMBERS, shown


@pytest.mark.parametrize("side", ["logic", "model"])
def test_each_conformance_check_has_a_test_or_reason(side):
    found = shown()[side]
    missing = [n for n in NUMBERS if n not in found and n not in ELSEWHERE[side]]
    assert not missing, f"no test of the {side} has these checks' numbers in its name: {missing}"
    assert set(found) <= set(NUMBERS)


@pytest.mark.parametrize("side", ["logic", "model"])
def test_reasons_are_for_checks_without_a_test(side):
    spare = sorted(set(ELSEWHERE[side]) & set(shown()[side]))
    assert not spare, f"these checks have tests of the {side}, and need no reason: {spare}"


def test_calculated_checks_have_a_numbered_test():
    assert {64, 66} <= set(shown()["figures"])
