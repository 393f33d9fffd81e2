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


def test_phases_follow_from_the_shared_time(straight):
    """Of all shots: the phase of each sideband is that of a tone that has run since time 0."""
    for shot, begin in enumerate(straight.begins):
        times = begin + np.arange(4000)
        for samples in straight.samples(shot):
            for hz in (196.9e6, 203.1e6):
                turn = np.vdot(np.exp(2j * np.pi * (hz * 1e-9 * times % 1.0)) * np.hanning(4000), samples)
                assert abs(np.angle(turn)) < 0.02, (shot, hz)


@pytest.mark.long
@pytest.mark.parametrize("delay_ns", FIBRES_NS[1:])
def test_other_fibres_change_no_sample(straight, tmp_path, delay_ns):
    """The phase at a time and the course of a gate are the same, so gates that begin at other times are compared
    after the difference of their phases; on both boards all samples are equal."""
    other = play(tmp_path, delay_ns)
    for shot, begin in enumerate(other.begins):
        one, two = other.samples(shot)
        assert (one == two).all(), delay_ns
        assert np.abs(one).max() > 20_000
        if begin in straight.begins:
            assert (one == straight.samples(straight.begins.index(begin))[0]).all()


@pytest.mark.long
def test_gate_without_time_skip_is_the_same(straight, tmp_path):
    other = play(tmp_path, FIBRES_NS[0], "--no-skip")
    assert other.begins == straight.begins
    for shot in range(len(other.begins)):
        for one, two in zip(straight.samples(shot), other.samples(shot), strict=True):
            assert (one == two).all()
