"""The examples of the hub: a calibration of 1,000 steps, alone and during an experiment."""

import re
import subprocess
import sys

from tests.support import TIMEOUT
from tests.support.hub import demo_hub, demo_lab
from tests.support.paths import EXAMPLES


def run(*words):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=TIMEOUT)


def test_calibration_example_finds_the_middle_setting(device, tmp_path):
    with demo_hub(device, tmp_path) as hub, demo_lab(hub):
        done = run(EXAMPLES / "hub" / "calibrate.py", "demo", "--hub", hub.address)
        assert done.returncode == 0, done.stderr
        assert re.match(
            r"250 of 250 settings lock; 125, in their middle, is set\n1000 steps as one batch: ", done.stdout
        )
        missing = run(EXAMPLES / "hub" / "calibrate.py", "away", "--hub", hub.address)
        assert missing.returncode == 1 and missing.stderr.startswith("calibrate: away at 127.0.0.1:9 does not answer")


def test_calibrations_beside_blink_leave_pins_unchanged():
    done = run(EXAMPLES / "hub" / "beside_blink.py")
    assert done.returncode == 0, done.stderr
    *blinks, pins, batch, calls = done.stdout.splitlines()
    assert set(blinks) == {"blinked 100 times"}
    assert pins == "blink: 200 pulses, to the nanosecond the same with and without a calibration beside them"
    together, apart = (float(re.search(r"([\d.]+) us each", line)[1]) for line in (batch, calls))
    assert together < apart
