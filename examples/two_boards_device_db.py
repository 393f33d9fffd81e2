"""Devices of the emulated system `pair`: those of device_db.py on the master, and as many TTLs on a
satellite."""

import copy
import runpy
from pathlib import Path

device_db = runpy.run_path(str(Path(__file__).parent / "device_db.py"))["device_db"]
device_db["core"]["arguments"]["host"] = "emulator://pair"

DESTINATION = 1
"""Destination of the satellite, in bits 23..16 of its channels."""

for channel in range(12):
    device_db[f"sat_ttl{channel}"] = copy.deepcopy(device_db[f"ttl{channel}"])
    device_db[f"sat_ttl{channel}"]["arguments"]["channel"] = DESTINATION << 16 | channel
