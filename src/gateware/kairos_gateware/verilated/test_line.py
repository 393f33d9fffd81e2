"""Streams over a bad line, at full load: nothing is lost, duplicated or reordered."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kairos_gateware.figures.place import root
from kairos_gateware.link.line.reliable import Reliability
from kairos_gateware.testbenches.line import Line, build_line

HOLD = 16384


@pytest.fixture(scope="module")
def link():
    return build_line(root() / "line_bench", Reliability(hold=HOLD))


def all_arrived(played):
    ends = played.ends
    assert not ends["wrong"].any() and not ends["gaps"].any() and not ends["ended"].any() and ends["up"].all()
    assert (ends["sent"][::-1] == ends["received"]).all()
    assert (ends["received"] > played.words // 2000).all(), "every stream moves"
    return ends


def test_good_line_causes_no_retransmission(link):
    ends = all_arrived(link.play(40_000, Line()))
    assert not any(ends[name].any() for name in ["corrected", "broken", "dropped", "retransmitted"])


def test_million_words_arrive_at_an_error_rate_of_1e_5(link):
    ends = all_arrived(link.play(1_000_000, Line(bit_errors=1e-5)))
    assert ends["corrected"].sum() == pytest.approx(1e6 * 64e-5, rel=0.15)


@pytest.mark.parametrize(
    "line",
    [
        Line(bit_errors=1e-5, bursts=1e-3),
        Line(bit_errors=1e-5, bursts=1e-3, drops=1e-3, delay=3, pause_every=0),
        Line(bit_errors=1e-4, drops=1e-3, delay=150, drift=9, drift_period=1000),
        Line(bit_errors=1e-5, unplugs=1e-4, unplugged=900),
    ],
    ids=["bursts", "drops", "drift", "unplugs"],
)
def test_words_arrive_over_a_bad_line(link, line):
    ends = all_arrived(link.play(200_000, line, Line(**vars(line) | {"delay": line.delay + 40})))
    assert (ends["dropped"] > 100).all() and (ends["retransmitted"] > 100).all()


@st.composite
def lines(draw):
    def rate(most):
        return draw(st.one_of(st.just(0.0), st.floats(0, most)))

    return Line(
        seed=draw(st.integers(1, 2**32)),
        delay=draw(st.integers(10, 150)),
        drift=draw(st.integers(0, 9)),
        drift_period=draw(st.integers(100, 2000)),
        bit_errors=rate(2e-4),
        bursts=rate(1e-3),
        burst_bits=draw(st.integers(2, 64)),
        drops=rate(2e-3),
        unplugs=rate(1e-4),
        unplugged=draw(st.integers(1, 900)),
        pause_every=draw(st.sampled_from([0, *range(2, 40)])),
    )


@settings(max_examples=20, deadline=None)
@given(lines(), lines())
def test_words_arrive_over_any_line(link, there, back):
    all_arrived(link.play(40_000, there, back))


def test_words_arrive_over_a_line_of_100_us(link):
    """Longer than the ends' buffers cover: slow, and complete."""
    all_arrived(link.play(50_000, Line(delay=12_500, bit_errors=1e-5, bursts=1e-4), settle=400_000))


def test_long_silence_restarts_both_ends(link):
    played = link.play(1_000_000, Line(bit_errors=1e-5, unplugs=1e-5, unplugged=HOLD + 2000))
    ends = played.ends
    assert (ends["ended"] >= played.unplugs - 1).all() and played.unplugs > 3 and ends["up"].all()
    assert ends["gaps"].all() and not ends["wrong"].any()
    assert (ends["received"] > played.words // 2000).all()


def test_equal_seeds_give_equal_runs(link):
    line = Line(bit_errors=1e-4, bursts=1e-4, drops=1e-4)
    runs = [link.play(20_000, Line(**vars(line) | {"seed": seed})) for seed in (1, 1, 2)]
    assert np.array_equal(runs[0].ends, runs[1].ends)
    assert not np.array_equal(runs[0].ends, runs[2].ends)


@pytest.mark.long
def test_hundred_million_words_arrive_over_a_bad_line(link):
    """In one run."""
    ends = all_arrived(link.play(100_000_000, Line(bit_errors=1e-5, bursts=1e-4, burst_bits=64, drops=1e-4)))
    assert (ends["corrected"] > 20_000).all() and (ends["retransmitted"] > 10_000).all()


@pytest.mark.long
def test_words_arrive_in_spite_of_thousand_cuts(link):
    played = link.play(8_000_000, Line(seed=5, bit_errors=1e-5, unplugs=3e-4, unplugged=200))
    all_arrived(played)
    assert played.unplugs >= 1000
