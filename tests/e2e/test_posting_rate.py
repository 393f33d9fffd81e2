"""Submission rate of outputs with ample slack, in PL cycles, for kernels of several styles
(docs/kernel-core.md)."""

import statistics
from pathlib import Path

import pytest

from kairos.emulator import acquire
from tests.support.experiment import experiment

EXPERIMENTS = Path(__file__).with_name("experiments") / "rates.py"


@pytest.fixture(scope="module")
def emulator():
    emulator = acquire("emulator://demo")
    yield emulator
    emulator.stop()


@pytest.mark.parametrize(
    ("name", "cycles"),
    [
        ("TwoInTurn", 6.5),
        ("Pulses", 13.5),
        ("ComputedTimes", 6.5),
        ("RegisterWrites", 6.5),
        ("ListOfChannels", 7.5),
        ("Parallel", 7.5),
        ("Wide", 70),
    ],
)
def test_output_period_is_within_limit(emulator, name, cycles):
    instance = experiment(EXPERIMENTS, name)
    before = emulator.control.status()["sev_count"]
    instance.run()
    status = emulator.control.status()
    assert status["sev_count"] - before == 400, "one event for each output"
    instance.core.close()
    # The first output on each channel is not posted.
    submitted = emulator.control.submissions()[-396:]
    periods = [b - a for a, b in zip(submitted, submitted[1:], strict=False)]
    assert statistics.mean(periods) < cycles, periods
