"""Devices of the emulated system `pulse`: those of device_db.py, and a pulse core with two channels."""

import runpy
from pathlib import Path

device_db = runpy.run_path(str(Path(__file__).parent / "device_db.py"))["device_db"]
device_db["core"]["arguments"]["host"] = "emulator://pulse"
device_db["pulse0"] = {
    "type": "local",
    "module": "artiq.coredevice.pulse",
    "class": "Pulse",
    "arguments": {"channel": 14, "channels": 2, "mlut_bits": 11, "plut_bits": 10},
}
