"""A Kasli-SoC with a card of every type that its connectors have room for, in the emulator."""

from dataclasses import replace
from pathlib import Path

from kairos_gateware import description
from kairos_gateware.device_db import device_db

from kairos.devices import DeviceDB

from .databases import written
from .gateware import built_as

__all__ = ["VARIANT", "every_card"]

VARIANT = "all"


def every_card(folder):
    """Build the gateware; write a device database as for hardware to `folder`, and return it."""
    file = Path(description.__file__).with_name("all.json")
    variant = replace(description.make_variant(description.load(file)), name=VARIANT)
    built_as(variant)
    return written(DeviceDB(device_db(variant, "10.0.0.1")).entries, folder)
