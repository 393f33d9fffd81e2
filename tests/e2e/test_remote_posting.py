"""Posted outputs on a satellite: their rate, their delivery, exact exceptions."""

import statistics
from pathlib import Path

import pytest

from kairos.emulator import acquire
from tests.support.experiment import experiment
from tests.support.gateware import built
from tests.support.paths import EXAMPLES
from tests.support.waveforms import pulses_of_vcd

EXPERIMENT = Path(__file__).with_name("experiments") / "remote_posting.py"


@pytest.fixture(scope="module")
def pair():
    built("pair", "satellite")
    return EXAMPLES / "two_boards_device_db.py"


def test_satellite_output_period_is_within_limit(pair):
    emulator = acquire("emulator://pair")
    try:
        instance = experiment(EXPERIMENT, "InTurn", pair)
        instance.run()
        # The first output on each channel is not posted
        submitted = emulator.control.submissions()[-396:]
    finally:
        emulator.stop()
    periods = [b - a for a, b in zip(submitted, submitted[1:], strict=False)]
    assert statistics.mean(periods) < 50, periods


def test_more_outputs_than_satellite_holds_are_executed(kairos, pair):
    done = kairos("run", EXPERIMENT, "--class-name", "Full", "--vcd", "a.vcd", device_db=pair)
    assert done.returncode == 0 and done.stdout.startswith("end\n"), done.stdout + done.stderr
    pulses = pulses_of_vcd((kairos.directory / "a.vcd").read_text())
    assert pulses["ttl4"] == pulses["sat_ttl4"] and len(pulses["ttl4"]) == 3000


def test_satellite_underflow_is_raised_by_its_call(kairos, pair):
    done = kairos("run", EXPERIMENT, "--class-name", "Late", device_db=pair)
    assert done.returncode == 0 and done.stdout.startswith("underflow after 69\nend\n"), done.stdout + done.stderr
