"""The model of the synchronised clocks."""

import numpy as np
import pytest

from .sync import CYCLE_PS, LENGTHS, Setup, attempts, phase_errors, share, static_error


def test_counters_agree_to_the_resolution_of_the_phase():
    """That is 1/64 of a cycle in the round trip, half of it in the forward delay, and less than a
    step of the clock."""
    errors = [static_error(delay) for delay in np.linspace(1e6, 1e6 + 2 * CYCLE_PS, 401)]
    assert max(map(abs, errors)) < CYCLE_PS / 128 + CYCLE_PS / 448
    begins = np.random.default_rng(2).integers(0, 64, (401, 2)).tolist()
    errors = [
        static_error(delay, begins=bits)
        for delay, bits in zip(np.linspace(1e6, 1e6 + 2 * CYCLE_PS, 401), begins, strict=True)
    ]
    assert max(map(abs, errors)) < CYCLE_PS / 128 + CYCLE_PS / 448
    assert static_error(125 * CYCLE_PS, 2 * CYCLE_PS) == pytest.approx(CYCLE_PS, abs=20)


def test_clock_locks_at_once_for_every_fibre_length():
    """Also where the round trip's last fraction of a cycle is as small as the jitter."""
    random = np.random.default_rng(3)
    assert share() == 1.0
    assert {attempts(delay * CYCLE_PS, random) for delay in np.linspace(125, 126, 65)} == {1}


def test_phase_follows_fibre_drift_and_ignores_crystal_drift():
    length = LENGTHS[0]
    times, errors = phase_errors(Setup(length=length, steps=((5.0, 5.0),), fibre_s=5.0, board_s=5.0), seconds=40)
    moved = errors - errors[0]
    assert moved[-2000:].mean() == pytest.approx(-0.038 * length * 5, abs=1.0)
    still = phase_errors(Setup(length=length, steps=((5.0, 5.0),), fibre_s=1e9, board_s=120.0), seconds=40)[1]
    assert np.abs(still - still[0]).max() < 3
    assert np.array_equal(
        errors, phase_errors(Setup(length=length, steps=((5.0, 5.0),), fibre_s=5.0, board_s=5.0), 40)[1]
    )
