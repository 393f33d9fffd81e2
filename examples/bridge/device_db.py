"""Devices of two emulated boards, described in system.toml: `adder` is a block in the logic of the satellite."""

import runpy
from pathlib import Path

device_db = runpy.run_path(str(Path(__file__).parents[1] / "two_boards_device_db.py"))["device_db"]
device_db["core"]["arguments"]["host"] = "emulator://" + str(Path(__file__).with_name("system.toml"))
for name, destination in [("adder", 1), ("master", 0)]:
    device_db[name] = {
        "type": "local",
        "module": "kairos.coredevice.bridge",
        "class": "VectorAdder" if destination else "Bridge",
        "arguments": {"destination": destination},
    }
