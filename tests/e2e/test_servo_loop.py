"""The loop of an SU-Servo, closed on the bench: AD9910, modulator, photodiode, Sampler, and the filter in the logic."""

import numpy as np
import pytest

from kairos.testing import Bench
from tests.support.gateware import built
from tests.support.paths import EXAMPLES

FOLDER = EXAMPLES / "servo"
PERIOD = 1.168e-6


@pytest.fixture(scope="module")
def database():
    built("servo")
    return FOLDER / "device_db.py"


def test_a_servo_holds_the_power_of_a_beam(database, tmp_path):
    picture = tmp_path / "servo.png"
    with Bench(database) as bench:
        bench.run(FOLDER / "servo_loop.py", figure=str(picture))
        left = bench.datasets
        assert bench.warnings == []
        before, disturbed, after = left["servo.errors"]
        # An ADC step is 0.3 mV, an amplitude step 0.4 mV of 2 V
        assert before < 0.01 and after < 0.01
        assert disturbed > 0.2, "3 dB less are seen"
        assert left["servo.ratio"] == pytest.approx(10 ** (3 / 20), rel=0.01)
        assert left["servo.status"] & 0xFF00 == 0, "Y was not limited"
        # Near the setpoint it settles exponentially, as an integrator with this gain does; behind 3 dB the amplitude
        # acts by a factor of sqrt(2) less
        times, volts = np.array(left["servo.time_s"]), np.array(left["servo.volts"])
        half = len(times) // 2
        error = np.abs(volts[half:] - 2.0)
        near = (error < 0.3) & (error > 0.02)
        slope = np.polyfit(times[half:][near], np.log(error[near]), 1)[0]
        assert -1 / slope == pytest.approx(50e-6 * 2**0.5, rel=0.1)
        # Each update is taken over by the chip in every period of the servo
        tones = bench.dds("urukul0.ch0").changes
        steps = [b.time - a.time for a, b in zip(tones[20:60], tones[21:61], strict=True)]
        assert all(step / PERIOD == pytest.approx(round(step / PERIOD), abs=0.01) for step in steps if step > 0.2e-6)
        assert tones[40].frequency == pytest.approx(80e6, abs=1)
        # The output is off by then; the chip holds the profile that the servo has left there
        left_there = bench.part("urukul0_cpld")["ch0"]
        assert left_there["frequency_hz"] == pytest.approx(80e6, abs=1) and not left_there["switch"]
        assert picture.read_bytes().startswith(b"\x89PNG")
