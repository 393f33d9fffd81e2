"""A gate across two boards: in phase and aligned to the sample, for any length of the fibre between them."""

import numpy as np
import pytest

from tests.support.two_board_gate import play, skew_ps

FIBRES_NS = [0, 1000, 1003, 20_005]
"""One-way delays, of which two are no multiples of the boards' cycle."""


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    return play(tmp_path_factory.mktemp("straight"), FIBRES_NS[0])


def test_gate_begins_in_phase_on_both_boards(straight):
    for shot in range(len(straight.begins)):
        one, other = straight.samples(shot)
        assert np.abs(one).max() > 20_000 and (one == other).all()
        assert abs(skew_ps(one, other)) < 1e-3
        # Shifted by a sample they are far from it
        assert abs(skew_ps(one[1:], other[:-1]) - 1000) < 50


def follows_time(played):
    """Assert that both boards play the same samples in each shot, and that each sideband has the phase of a tone that
    has run since time 0."""
    for shot, begin in enumerate(played.begins):
        times = begin + np.arange(4000)
        one, other = played.samples(shot)
        assert np.abs(one).max() > 20_000 and (one == other).all(), shot
        for hz in (196.9e6, 203.1e6):
            turn = np.vdot(np.exp(2j * np.pi * (hz * 1e-9 * times % 1.0)) * np.hanning(4000), one)
            assert abs(np.angle(turn)) < 0.02, (shot, hz)


def test_phases_follow_from_the_shared_time(straight):
    follows_time(straight)


@pytest.mark.long
@pytest.mark.parametrize("delay_ns", FIBRES_NS[1:])
def test_gate_is_in_phase_over_other_fibres(tmp_path, delay_ns):
    follows_time(play(tmp_path, delay_ns))


@pytest.mark.long
def test_gate_is_in_phase_without_time_skip(tmp_path):
    follows_time(play(tmp_path, FIBRES_NS[0], "--no-skip"))
