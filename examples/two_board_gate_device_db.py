"""Devices of the emulated system `pulse_pair`: those of two_boards_device_db.py, and a pulse core on each board."""

import runpy
from pathlib import Path

device_db = runpy.run_path(str(Path(__file__).parent / "two_boards_device_db.py"))["device_db"]
device_db["core"]["arguments"]["host"] = "emulator://pulse_pair"
for name, channel in (("pulse0", 13), ("sat_pulse0", 1 << 16 | 12)):
    device_db[name] = {
        "type": "local",
        "module": "artiq.coredevice.pulse",
        "class": "Pulse",
        "arguments": {"channel": channel, "channels": 2, "mlut_bits": 11, "plut_bits": 10},
    }
