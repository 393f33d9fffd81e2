"""Devices on the I2C bus, and the cache, through their drivers."""

from pathlib import Path

EXPERIMENT = Path(__file__).with_name("experiments") / "i2c.py"
EXAMPLES = Path(__file__).parents[2] / "examples"

PRINTED = """\
expander False switch True
not acknowledged
expander True switch 4
pins 90
[1, 2, 254, 255, 255]
[1, -2, 3]
[1, -2, 3] 0 0
"""


def test_i2c_and_cache(kairos, tmp_path):
    entry = '{"type": "local", "module": "artiq.coredevice.i2c", "class": "%s", "arguments": {}}'
    devices = f'device_db["i2c_switch"] = {entry % "I2CSwitch"}\ndevice_db["i2c_expander"] = {entry % "PCF8574A"}\n'
    path = tmp_path / "device_db.py"
    path.write_text((EXAMPLES / "device_db.py").read_text() + devices)
    done = kairos("run", EXPERIMENT, device_db=path)
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 0
