"""Device databases of tests that differ from those of a gateware."""

import pprint

from kairos.coredevice.remote_memory import BLOCK
from kairos.devices import DeviceDB

from .paths import EXAMPLES

__all__ = ["REMOTE_MEMORY", "calibrated", "chain_memory", "entry", "memories", "two_boards", "written"]

REMOTE_MEMORY = """
for name, destination in [("master", 0), ("satellite", 1)]:
    device_db[name] = {
        "type": "local",
        "module": "kairos.coredevice.remote_memory",
        "class": "RemoteMemory",
        "arguments": {"destination": destination},
    }
"""
"""Appended to the text of `two_boards`: the memory of both."""


def chain_memory(system):
    """Return what is appended to the text of a master's database for `MEMORY_CHAIN`, described in the file `system`:
    the memory of all, and the adder of the last one, also as its own kernels find it."""
    return f"""
device_db["core"]["arguments"]["host"] = "emulator://{system}"
boards = [("master", 0), ("relay", 1), ("satellite", 2), ("unconnected", 9)]
for name, destination, cls, more in [
    *[(name, number, "RemoteMemory", {{}}) for name, number in boards],
    ("adder", 2, "RemoteAdder", {{}}),
    ("own_adder", 2, "RemoteAdder", {{"address": {BLOCK}}}),
]:
    device_db[name] = {{
        "type": "local",
        "module": "kairos.coredevice.remote_memory",
        "class": cls,
        "arguments": {{"destination": destination}} | more,
    }}
"""


def memories(system, boards):
    """Return what is appended to the text of the database of the system described in this file: the memories of boards,
    destinations by name."""
    return f"""
device_db["core"]["arguments"]["host"] = "emulator://{system}"
for name, destination in {boards}.items():
    device_db[name] = {{
        "type": "local",
        "module": "kairos.coredevice.remote_memory",
        "class": "RemoteMemory",
        "arguments": {{"destination": destination}},
    }}
"""


def two_boards(host):
    """Return the text of the database of a master, reached at `host`, and a satellite."""
    original = EXAMPLES / "two_boards_device_db.py"
    text = original.read_text().replace("__file__", repr(str(original)))
    return text + f"\ndevice_db['core']['arguments']['host'] = {str(host)!r}\n"


def calibrated(lab, folder):
    """Return the database of `lab` with its Urukul uncalibrated."""
    entries = DeviceDB.load(lab).entries
    for number in range(4):
        entries[f"urukul0_ch{number}"]["arguments"] |= {"sync_delay_seed": -1, "io_update_delay": 0}
    return written(entries, folder)


def entry(module, cls, **arguments):
    """Return the database entry of a Kairos driver, under ARTIQ's name of its module."""
    return {"type": "local", "module": f"artiq.coredevice.{module}", "class": cls, "arguments": arguments}


def written(entries, folder):
    """Write a file with these entries."""
    path = folder / "device_db.py"
    path.write_text(f"device_db = {pprint.pformat(entries)}\n")
    return path
