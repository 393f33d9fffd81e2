"""Devices of two emulated boards, described in system.toml: `adder` is a block in the logic of the satellite. With
SYSTEM=pages.toml in the environment, `pages` is a range of pages of the satellite's memory, which its kernels show by
`shown`."""

import os
import runpy
from pathlib import Path

device_db = runpy.run_path(str(Path(__file__).parents[1] / "two_boards_device_db.py"))["device_db"]
device_db["core"]["arguments"]["host"] = "emulator://" + str(
    Path(__file__).with_name(os.environ.get("SYSTEM", "system.toml"))
)


def _device(module, name, destination):
    return {
        "type": "local",
        "module": f"kairos.coredevice.{module}",
        "class": name,
        "arguments": {"destination": destination},
    }


device_db["adder"] = _device("bridge", "VectorAdder", 1)
device_db["master"] = _device("bridge", "Bridge", 0)
device_db["pages"] = _device("bridge", "SharedPages", 1)
device_db["shown"] = _device("bridge", "SharedPages", 0)
device_db["memory"] = _device("remote_memory", "RemoteMemory", 1)
