"""Devices of the emulated system `pulse`; what is wired to its pins and its pulse core is described
in bench.toml."""

import runpy
from pathlib import Path

device_db = runpy.run_path(str(Path(__file__).parents[1] / "pulses_device_db.py"))["device_db"]
device_db["cooling"] = "ttl4"
device_db["repump"] = "ttl5"
device_db["photons"] = "ttl0"
device_db["pumping"] = "ttl6"
