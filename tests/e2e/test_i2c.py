"""Devices on the I2C bus, and the cache, through their drivers."""

from pathlib import Path

EXPERIMENT = Path(__file__).with_name("experiments") / "i2c.py"

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
