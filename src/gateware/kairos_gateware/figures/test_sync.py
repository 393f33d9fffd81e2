"""The model of the synchronised clocks."""

import numpy as np
import pytest

from .sync import CYCLE_PS, LENGTHS, Setup, phase_errors, share, static_error, travel


def test_the_gateware_measures_whole_cycles():
    """In simulation, where words take whole cycles, the counters agree; else up to half a cycle is not seen."""
    for cycles in (0, 1, 125, 12_500):
        assert travel(cycles * CYCLE_PS) == cycles and static_error(cycles * CYCLE_PS) == 0
    errors = [static_error(delay) for delay in np.linspace(1e6, 1e6 + 2 * CYCLE_PS, 401)]
    found = [error for error in errors if error is not None]
    assert 0 <= min(found) < 40 and CYCLE_PS / 2 - 80 < max(found) < CYCLE_PS / 2
    assert static_error(125 * CYCLE_PS, 2 * CYCLE_PS) == CYCLE_PS


def test_round_trips_of_an_even_number_of_cycles_never_agree():
    assert travel(124.75 * CYCLE_PS) is not None and travel(125.25 * CYCLE_PS) is None
    assert 0.48 < share() < 0.52


def test_the_phase_follows_the_fibre_and_not_the_crystal():
    length = next(length for length in LENGTHS if static_error(length * 4900) is not None)
    times, errors = phase_errors(Setup(length=length, steps=((5.0, 5.0),), fibre_s=5.0, board_s=5.0), seconds=40)
    moved = errors - errors[0]
    assert moved[-2000:].mean() == pytest.approx(-0.038 * length * 5, abs=1.0)
    still = phase_errors(Setup(length=length, steps=((5.0, 5.0),), fibre_s=1e9, board_s=120.0), seconds=40)[1]
    assert np.abs(still - still[0]).max() < 3
    assert np.array_equal(
        errors, phase_errors(Setup(length=length, steps=((5.0, 5.0),), fibre_s=5.0, board_s=5.0), 40)[1]
    )
