"""Vectors through the words: what each engine of a channel shows, cycle by cycle from its start."""

import pytest

from kairos_gateware.contracts import pulse as facts

from .bench import onto, segments, vectors

PLAYED = [name for name, vector in vectors().items() if "trajectory" in vector]


def expected(trajectory, cycles):
    """A list of changes as a value for each cycle, modulo 2^40."""
    changes, now, values = dict(map(tuple, trajectory)), 0, []
    for cycle in range(cycles):
        now = changes.get(cycle, now)
        values.append(now % (1 << facts.VALUE_BITS))
    return values


def compare(played, vector, channels, trajectory="trajectory"):
    for n, c in enumerate(channels):
        cycles = max(vector["total_cycles"][c].values())
        rows = segments(played, n)
        assert len(rows) == cycles
        trajectories = vector[trajectory][c] | vector.get("trajectory_continuous_commit", {}).get(c, {})
        for p, parameter in enumerate(facts.Parameter):
            want = expected(trajectories[parameter.name.lower()], cycles)
            assert rows["values"][:, p].tolist() == want, f"channel {c}, {parameter.name}"


@pytest.mark.parametrize("name", PLAYED)
def test_vectors(engines, name):
    vector = vectors()[name]
    channels = list(vector["trajectory"])[: engines.channels]
    played = engines.play(
        onto(vector["words"], [int(c) for c in channels]),
        1000,
        results=[(0, 0)],
        trigger_channels=2 ** len(channels) - 1,
    )
    assert played.errors in [0, facts.Error.UNDERRUN]
    compare(played, vector, channels)
