"""An SU-Servo from the kernel to the memories in the gateware, and its status without a card."""

from pathlib import Path

import pytest
from kairos_gateware import build

from tests.support.paths import BUILD

EXPERIMENT = Path(__file__).with_name("experiments") / "servo.py"
DEVICE_DB = """device_db = {
    "core": {
        "type": "local",
        "module": "artiq.coredevice.core",
        "class": "Core",
        "arguments": {"host": "emulator://servo", "ref_period": 1e-9, "ref_multiplier": 8, "target": "cortexa9"},
    }
}
"""
# Idle is bit 1; bit 2 says that samples were not read, once
PRINTED = [
    *(f"word {word} {0x11111 * (word % 3 + 1) & 0x3FFFF}" for word in range(8)),
    "y 99999",
    "status 2",
    "stopped 6",
    "read again 2",
]


@pytest.mark.long
def test_servo(kairos, tmp_path):
    assert build.main(["--variant", "servo", "--board", "sim", "--output", str(BUILD / "gateware" / "servo")]) == 0
    path = tmp_path / "device_db.py"
    path.write_text(DEVICE_DB)
    done = kairos("run", EXPERIMENT, device_db=path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[: len(PRINTED)] == PRINTED
