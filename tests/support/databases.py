"""Device databases of tests that are not wholly those of a gateware."""

import pprint

from kairos.devices import DeviceDB

from .paths import EXAMPLES

__all__ = ["REMOTE_MEMORY", "calibrated", "entry", "two_boards", "written"]

REMOTE_MEMORY = """
for name, destination in [("master", 0), ("satellite", 1)]:
    device_db[name] = {
        "type": "local",
        "module": "kairos.coredevice.remote_memory",
        "class": "RemoteMemory",
        "arguments": {"destination": destination},
    }
"""
"""For the text of `two_boards`: the memory of both."""


def two_boards(host):
    """Text of the database of a master and a satellite, of which the first one is at `host`."""
    original = EXAMPLES / "two_boards_device_db.py"
    text = original.read_text().replace("__file__", repr(str(original)))
    return text + f"\ndevice_db['core']['arguments']['host'] = {str(host)!r}\n"


def calibrated(lab, folder):
    """The database of `lab` with its Urukul as one that has not been calibrated."""
    entries = DeviceDB.load(lab).entries
    for number in range(4):
        entries[f"urukul0_ch{number}"]["arguments"] |= {"sync_delay_seed": -1, "io_update_delay": 0}
    return written(entries, folder)


def entry(module, cls, **arguments):
    """What a database says of a device of one of our drivers, by the name that ARTIQ has for its module."""
    return {"type": "local", "module": f"artiq.coredevice.{module}", "class": cls, "arguments": arguments}


def written(entries, folder):
    """A file with these entries."""
    path = folder / "device_db.py"
    path.write_text(f"device_db = {pprint.pformat(entries)}\n")
    return path
