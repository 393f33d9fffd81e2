"""Two or more emulated boards that access each other's memory: `board0` is the master. The environment variable
SYSTEM names another description than system.toml, next to it."""

import os
import runpy
from pathlib import Path

device_db = runpy.run_path(str(Path(__file__).parents[1] / "device_db.py"))["device_db"]
device_db["core"]["arguments"]["host"] = "emulator://" + str(
    Path(__file__).with_name(os.environ.get("SYSTEM", "system.toml"))
)
for destination in range(8):
    device_db[f"board{destination}"] = {
        "type": "local",
        "module": "kairos.coredevice.remote_memory",
        "class": "RemoteMemory",
        "arguments": {"destination": destination},
    }
device_db["adder1"] = {
    "type": "local",
    "module": "kairos.coredevice.remote_memory",
    "class": "RemoteAdder",
    "arguments": {"destination": 1},
}
