"""The time-out follows the round trips."""

from migen import run_simulation

from kairos_gateware.link.remote.timing import RoundTrip

LEAST, MOST = 32, 512


def timeouts(*steps):
    """steps: (name of an input, its cycles or None, how often). Returns the time-outs before the first and after each
    step."""
    trip, found = RoundTrip(LEAST, MOST), []

    def play():
        found.append((yield trip.timeout))
        for name, cycles, times in steps:
            yield getattr(trip, name).eq(1)
            yield trip.cycles.eq(cycles or 0)
            for _ in range(times):
                yield
            yield getattr(trip, name).eq(0)
            yield
            found.append((yield trip.timeout))

    run_simulation(trip, play())
    return found


def test_timeout_is_twice_the_longest_of_the_latest_round_trips():
    unknown, short, longer, later = timeouts(("measured", 40, 90), ("measured", 100, 1), ("measured", 40, 90))
    assert unknown == MOST and longer == 200
    assert all(2 * 40 <= found <= 2 * (40 + 16) for found in (short, later))


def test_timeout_stays_within_its_bounds_and_doubles_when_late():
    assert timeouts(("measured", 1, 120), ("measured", 900, 1))[1:] == [LEAST, MOST]
    found = timeouts(("measured", 50, 90), ("late", None, 1), ("late", None, 1), ("late", None, 3))
    assert found[2] == 2 * found[1] and found[3:] == [min(MOST, 4 * found[1]), MOST]
