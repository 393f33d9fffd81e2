"""Writes the device database of a variant, in ARTIQ's format: a Python file that defines `device_db`."""

import pprint

from .variant import RTIO_FREQUENCY, ChannelSpec, Variant, driver

__all__ = ["device_db", "render"]

_DRIVERS = {
    "ttl_out": ("ttl", "TTLOut"),
    "ttl_inout": ("ttl", "TTLInOut"),
    "ttl_clockgen": ("ttl", "TTLClockGen"),
    "edge_counter": ("edge_counter", "EdgeCounter"),
    "spi_master": ("spi2", "SPIMaster"),
    "fastino": ("fastino", "Fastino"),
    "grabber": ("grabber", "Grabber"),
}
# Parameters of a channel that are arguments of its driver
_ARGUMENTS = {"acc_width", "gateware_width", "log2_width", "res_width", "count_shift"}
# Its argument for the channel's number, where that is not `channel`
_CHANNEL = {"grabber": "channel_base"}


def _entry(number: int, channel: ChannelSpec) -> dict:
    arguments = {key: value for key, value in channel.parameters.items() if key in _ARGUMENTS}
    return driver(*_DRIVERS[channel.kind], **{_CHANNEL.get(channel.kind, "channel"): number}, **arguments)


def device_db(variant: Variant, host: str) -> dict:
    """host: network address of the core device, or an `emulator://` address."""
    machine_units = 1_000_000_000 // RTIO_FREQUENCY
    core = driver("core", "Core", host=host, ref_period=1e-9, ref_multiplier=machine_units, target="cortexa9")
    db = {"core": core, "core_dma": driver("dma", "CoreDMA"), "core_cache": driver("cache", "CoreCache")}
    for number, channel in enumerate(variant.channels):
        if channel.kind in _DRIVERS:
            db[channel.name] = _entry(number, channel)
    db |= variant.devices
    if "core_analyzer" in db:
        db["core"]["arguments"]["analyzer_proxy"] = "core_analyzer"
    return db


def render(variant: Variant, host: str) -> str:
    """Text of the file."""
    body = pprint.pformat(device_db(variant, host), sort_dicts=False, width=100)
    return f"# Device database of gateware variant {variant.name}, generated with it.\n\ndevice_db = {body}\n"
