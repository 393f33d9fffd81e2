"""Devices on the I2C bus, and the cache, through their drivers."""

from pathlib import Path

from kairos.coredevice.chips.tca6424a import CONFIGURATION, INPUT, OUTPUT
from kairos.coredevice.i2c import TCA6424A
from kairos.devices import DeviceDB
from tests.support.chain import Chain
from tests.support.databases import entry, written

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


def test_i2c_and_cache_calls_return_expected_values(kairos):
    done = kairos("run", EXPERIMENT)
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 0


def test_calibration_in_the_eeprom_is_read_and_used(kairos, lab):
    """With the database that comes with the gateware: a Kasli's switches and EEPROMs are on the
    emulated bus."""
    done = kairos("run", CALIBRATED, device_db=lab)
    assert done.stdout.startswith("card 303872\nerased -1\nwritten 184745984\ndelays 11 3\n"), done.stdout + done.stderr
    assert done.returncode == 0


def test_expander_of_24_pins_is_driven(lab, tmp_path):
    """On the emulated bus on channel 5 of a ZC706's switch."""
    entries = DeviceDB.load(lab).entries
    entries["switch"] = entry("i2c", "I2CSwitch")
    entries["pins"] = entry("i2c", "TCA6424A")
    with Chain(written(entries, tmp_path)) as chain:
        switch, pins = chain.get("switch"), chain.get("pins")
        ports = lambda kind: [chain(pins.read_word, kind.address + port, 1) for port in range(3)]  # noqa: E731
        chain(switch.set, 5)
        assert ports(CONFIGURATION) == [0xFF] * 3 and ports(INPUT) == [0] * 3, "after power-up they are inputs"
        chain(pins.set, 0x123456)
        assert ports(CONFIGURATION) == [0] * 3
        # Bit 0 is pin 0 of port 0
        assert ports(OUTPUT) == ports(INPUT) == [0x56, 0x34, 0x12]
        # Consecutive ports, requested by the highest bit of the register number
        assert chain(pins.read_word, 0x80 | OUTPUT.address, 3) == 0x563412
        chain(pins.write_word, CONFIGURATION.address + 1, 0x0F, 1)
        assert ports(CONFIGURATION) == [0, 0x0F, 0] and ports(INPUT) == [0x56, 0x30, 0x12]
        assert chain.uncalled(TCA6424A) == set()
