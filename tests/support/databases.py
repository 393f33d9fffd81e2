"""Device databases of tests that are not wholly those of a gateware."""

import pprint

from kairos.devices import DeviceDB

__all__ = ["calibrated", "written"]


def calibrated(lab, folder):
    """The database of `lab` with its Urukul as one that has not been calibrated."""
    entries = DeviceDB.load(lab).entries
    for number in range(4):
        entries[f"urukul0_ch{number}"]["arguments"] |= {"sync_delay_seed": -1, "io_update_delay": 0}
    return written(entries, folder)


def written(entries, folder):
    """A file with these entries."""
    path = folder / "device_db.py"
    path.write_text(f"device_db = {pprint.pformat(entries)}\n")
    return path
