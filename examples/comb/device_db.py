"""Devices of the emulated system `pulse`, whose core tracks the beat at `ttl2`."""

import runpy
from pathlib import Path

device_db = runpy.run_path(str(Path(__file__).parents[1] / "pulses_device_db.py"))["device_db"]
