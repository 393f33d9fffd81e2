"""Device database of a gateware, generated from its descriptor.

A gateware knows its channels, but not the hardware connected to them: for cards on a bus (Urukul,
Sampler, …) it has the bus and the pins, and their entries come from the system description of the
laboratory.
"""

import pprint

from ..contracts.descriptor import ChannelKind

__all__ = ["DRIVERS", "database", "render"]

DRIVERS = {
    ChannelKind.TTL_OUT: ("ttl", "TTLOut", "channel", ()),
    ChannelKind.TTL_INOUT: ("ttl", "TTLInOut", "channel", ()),
    ChannelKind.TTL_CLOCKGEN: ("ttl", "TTLClockGen", "channel", ("acc_width",)),
    ChannelKind.EDGE_COUNTER: ("edge_counter", "EdgeCounter", "channel", ("gateware_width",)),
    ChannelKind.SPI_MASTER: ("spi2", "SPIMaster", "channel", ()),
    ChannelKind.FASTINO: ("fastino", "Fastino", "channel", ("log2_width",)),
    ChannelKind.GRABBER: ("grabber", "Grabber", "channel_base", ("res_width", "count_shift")),
    ChannelKind.PHASER: ("phaser", "Phaser", "channel_base", ()),
    ChannelKind.PULSE: ("pulse", "Pulse", "channel", ("channels", "mlut_bits", "plut_bits")),
    ChannelKind.SHUTTLER: ("shuttler", "Config", "channel", ()),
    ChannelKind.SHUTTLER_SPLINE: ("shuttler", ("DCBias", "DDS"), "channel", ()),
    ChannelKind.SHUTTLER_TRIGGER: ("shuttler", "Trigger", "channel", ()),
}
"""Drivers by channel kind: module and class of the core device's drivers, their argument for the
channel number, and channel parameters passed on as arguments. Of several classes the channel's
parameter `SELECTOR` selects one. The gateware's own list is `kairos_gateware.phy.kinds.KINDS`.
"""
SELECTOR = "kind"
"""Channel parameter that selects a class; 0 unless given."""


def _driver(module: str, cls: str, **arguments) -> dict:
    return {"type": "local", "module": f"artiq.coredevice.{module}", "class": cls, "arguments": arguments}


def database(host: str, clock: tuple[int, int] | None, boards: list[tuple[int, list]]) -> dict:
    """Return the entries for the device at `host`. clock: frequency in Hz and fine bits; boards:
    destination and channels of each, in the format of `Management.descriptor`. If two channels have
    the same name, the destination is appended to that of the more distant board.
    """
    frequency, fine_bits = clock or (125_000_000, 3)
    multiplier = 1 << fine_bits
    core = {"host": host, "ref_period": 1 / (frequency * multiplier), "ref_multiplier": multiplier}
    entries = {
        "core": _driver("core", "Core", **core, target="cortexa9"),
        "core_dma": _driver("dma", "CoreDMA"),
        "core_cache": _driver("cache", "CoreCache"),
    }
    places: set[int] = set()
    for destination, channels in boards:
        for number, kind, name, parameters in channels:
            # A master built together with its satellites lists their channels itself.
            place = destination << 16 | number
            if kind not in DRIVERS or place in places:
                continue
            places.add(place)
            module, cls, argument, also = DRIVERS[kind]
            if isinstance(cls, tuple):
                cls = cls[dict(parameters).get(SELECTOR, 0)]
            arguments = {key: value for key, value in parameters if key in also}
            unique = name if name not in entries else f"{name}_{destination}"
            entries[unique] = _driver(module, cls, **{argument: place}, **arguments)
    return entries


def render(entries: dict, variant: str, without_driver: list[str]) -> str:
    """Text of the file. without_driver: names of channels that have no entry."""
    text = f"# Device database of gateware {variant}, generated from the descriptor of the device.\n"
    if without_driver:
        text += f"# Without an entry, since their drivers need more than that: {', '.join(without_driver)}\n"
    text += "# Cards on the buses are not known to it: their entries come from a system description.\n\n"
    return f"{text}device_db = {pprint.pformat(entries, sort_dicts=False, width=100)}\n"
