"""An SU-Servo from the kernel to the memories in the gateware, and its status without a card."""

from pathlib import Path

import pytest
from kairos_gateware.device_db import render
from kairos_gateware.variants import VARIANTS

from tests.support.gateware import built

EXPERIMENT = Path(__file__).with_name("experiments") / "servo.py"
WORDS = [0xABCD, -9, 0x5678, 6 | 200 << 8, -5, -7, 0x1234, 8]
"""Words of the profile: phase, b1, frequency, ADC and delay, offset, a1, frequency, b0."""
# Idle is bit 1; bit 2 reports once that samples were not read
PRINTED = [*(f"{word}" for word in WORDS), "y 99999", "status 2", "stopped 6", "read again 2"]


@pytest.mark.long
def test_servo_profiles_are_read_back_by_a_kernel(kairos, tmp_path):
    built("servo")
    path = tmp_path / "device_db.py"
    path.write_text(render(VARIANTS["servo"], "emulator://servo"))
    done = kairos("run", EXPERIMENT, "--no-bench", device_db=path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[: len(PRINTED)] == PRINTED
