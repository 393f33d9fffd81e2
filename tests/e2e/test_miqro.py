"""Pulses of a Phaser with Miqro gateware, from the experiment to the tones at its connector."""

from pathlib import Path

import numpy as np
import pytest

from kairos.testing import Bench
from tests.support.gateware import database

EXPERIMENT = Path(__file__).with_name("experiments") / "miqro.py"
CARRIER = 2.875e9
"""Of an upconverter with the settings of `init`, Hz."""


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    return database("cards", tmp_path_factory.mktemp("cards"))


@pytest.fixture(scope="module")
def played(db):
    with Bench(db) as bench:
        bench.run(EXPERIMENT)
        assert bench.warnings == []
        mark = next(time for time, level in bench.pin("ttl4").changes if level == 1)
        yield {n: bench.dds(f"phaser1.ch{n}").changes for n in (0, 3, 16)}, mark


def amplitudes(changes, start):
    """Return times since `start` and amplitudes of full scale."""
    times = np.array([change.time - start for change in changes])
    power = np.array([-np.inf if change.power is None else change.power for change in changes])
    return times, 10 ** (power / 20)


def test_pulse_follows_its_window(played):
    """Two samples of 400 ns, joined by straight lines: I rises, and falls while Q rises."""
    changes, mark = played
    first = [change for change in changes[0] if change.time < mark + 3e-6]
    # An event before the frame is sent with the next one, and the pulse begins when that has been received
    begin = first[0].time
    times, found = amplitudes(first, begin)
    part = (times + 4e-9) / 400e-9
    i = np.clip(np.minimum(part, 2 - part), 0, 1)
    q = np.clip(np.minimum(part - 1, 3 - part), 0, 1)
    assert found == pytest.approx(0.5 * np.hypot(i, q), abs=2e-3)
    assert times[-1] == pytest.approx(1200e-9, abs=1e-9) and found[-1] == 0.0
    assert all(change.frequency == pytest.approx(CARRIER + 10e6, abs=0.1) for change in first[:-1])
    # The phase of the samples is added to that of the profile
    turns = {n: (first[n].phase - (CARRIER + 10e6) * (first[n].time - begin)) % 1 for n in (0, len(first) - 3)}
    assert (turns[len(first) - 3] - turns[0]) % 1 == pytest.approx(0.25, abs=1e-3)


def test_oscillators_of_a_pulse_have_their_profiles(played):
    changes, mark = played
    loud = [max(change.power for change in changes[n] if change.power is not None) for n in (0, 3)]
    assert loud[0] - loud[1] == pytest.approx(6.02, abs=0.01)
    assert changes[3][0].frequency == pytest.approx(CARRIER - 20e6, abs=0.1)
    assert changes[16] == [], "the other channel is silent"


def test_pulses_keep_their_distance_to_the_nanosecond(played):
    """The events are 4.004 us apart, the second in another cycle of its frame, and in its other half."""
    changes, mark = played
    first = changes[0][0].time
    (second, end) = [change for change in changes[0] if change.time > mark + 3.5e-6]
    assert second.time - first == pytest.approx(4.004e-6, abs=1e-12)
    assert (second.power, end.power) == (pytest.approx(20 * np.log10(0.25), abs=1e-3), None)
    assert end.time - second.time == pytest.approx(1e-6, abs=1e-12)
