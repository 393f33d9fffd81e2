"""The satellite firmware on a single board: its log."""

import re

from tests.support.device import LIBRARY, Emulated
from tests.support.paths import FIRMWARE
from tests.support.waiting import until


def test_satellite_boots_and_logs_its_gateware(tmp_path):
    device = Emulated(tmp_path, "--firmware", FIRMWARE / "satman.elf", "--pl", LIBRARY)
    try:
        device.attach()
        until(lambda: "this board cannot be reached" in device.uart(), device.uart)
        printed = device.uart()
    finally:
        device.close()
    lines = re.findall(r"^\[.*?\): (.*)$", printed, re.MULTILINE)
    assert lines[0].startswith("Kairos satellite ")
    assert any(line.startswith("gateware: demo;") for line in lines)
    assert any(line.startswith("RTIO: ") for line in lines)
