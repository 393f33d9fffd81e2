"""Writes the device database of a variant, in ARTIQ's format: a Python file that defines `device_db`."""

import pprint

from .variants import RTIO_FREQUENCY, Variant

__all__ = ["device_db", "render"]

_CLASSES = {"ttl_out": "TTLOut", "ttl_inout": "TTLInOut"}


def device_db(variant: Variant, host: str) -> dict:
    """host: network address of the core device, or an `emulator://` address."""
    db = {
        "core": {
            "type": "local",
            "module": "artiq.coredevice.core",
            "class": "Core",
            "arguments": {
                "host": host,
                "ref_period": 1e-9,
                "ref_multiplier": 1_000_000_000 // RTIO_FREQUENCY,
                "target": "cortexa9",
            },
        }
    }
    for number, channel in enumerate(variant.channels):
        if channel.kind in _CLASSES:
            db[channel.name] = {
                "type": "local",
                "module": "artiq.coredevice.ttl",
                "class": _CLASSES[channel.kind],
                "arguments": {"channel": number},
            }
    return db


def render(variant: Variant, host: str) -> str:
    """Text of the file."""
    body = pprint.pformat(device_db(variant, host), sort_dicts=False, width=100)
    return f"# Device database of gateware variant {variant.name}, generated with it.\n\ndevice_db = {body}\n"
