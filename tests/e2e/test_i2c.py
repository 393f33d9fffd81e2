"""Devices on the I2C bus, and the cache, through their drivers."""

from pathlib import Path

EXPERIMENT = Path(__file__).with_name("experiments") / "i2c.py"
CALIBRATED = Path(__file__).with_name("experiments") / "calibrated.py"

PRINTED = """\
expander False switch True
not acknowledged
expander True switch 4
pins 90
[1, 2, 254, 255, 255]
[1, -2, 3]
[1, -2, 3] 0 0
"""


def test_i2c_and_cache(kairos):
    done = kairos("run", EXPERIMENT)
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 0


def test_a_calibration_in_the_eeprom_of_a_card(kairos, lab):
    """With the database that comes with the gateware: a Kasli's switches and EEPROMs are on the emulated bus."""
    done = kairos("run", CALIBRATED, device_db=lab)
    assert done.stdout.startswith("card 303872\nerased -1\nwritten 184745984\ndelays 11 3\n"), done.stdout + done.stderr
    assert done.returncode == 0
