"""``kairos devices``: what a device database has."""

from ..devices import DeviceDB

__all__ = ["show"]


def show(args):
    """List the entries of the device database."""
    for name, entry in DeviceDB.load(args.device_db).entries.items():
        if isinstance(entry, str):
            print(f"{name:20} -> {entry}")
        else:
            arguments = ", ".join(f"{key}={value!r}" for key, value in entry.get("arguments", {}).items())
            print(f"{name:20} {entry.get('class') or entry.get('type')}({arguments})")
