"""Drivers of channels.

Generated from src/contracts/cards/*.toml by src/contracts/generate.py: do not edit.
"""

__all__ = ["CHANNEL_DRIVERS"]

CHANNEL_DRIVERS = {
    "fastino": {
        "module": "fastino",
        "classes": ("Fastino",),
        "selector": "",
        "argument": "channel",
        "parameters": ("log2_width",),
        "described": False,
    },
    "grabber": {
        "module": "grabber",
        "classes": ("Grabber",),
        "selector": "",
        "argument": "channel_base",
        "parameters": ("res_width", "count_shift"),
        "described": False,
    },
    "phaser": {
        "module": "phaser",
        "classes": ("Phaser",),
        "selector": "",
        "argument": "channel_base",
        "parameters": ("gw_rev",),
        "described": False,
    },
    "pulse": {
        "module": "pulse",
        "classes": ("Pulse",),
        "selector": "",
        "argument": "channel",
        "parameters": ("channels", "mlut_bits", "plut_bits"),
        "described": False,
    },
    "suservo": {
        "module": "suservo",
        "classes": ("SUServo",),
        "selector": "",
        "argument": "channel",
        "parameters": (),
        "described": True,
    },
    "suservo_channel": {
        "module": "suservo",
        "classes": ("Channel",),
        "selector": "",
        "argument": "channel",
        "parameters": (),
        "described": True,
    },
    "shuttler": {
        "module": "shuttler",
        "classes": ("Config",),
        "selector": "",
        "argument": "channel",
        "parameters": (),
        "described": False,
    },
    "shuttler_spline": {
        "module": "shuttler",
        "classes": ("DCBias", "DDS"),
        "selector": "kind",
        "argument": "channel",
        "parameters": (),
        "described": False,
    },
    "shuttler_trigger": {
        "module": "shuttler",
        "classes": ("Trigger",),
        "selector": "",
        "argument": "channel",
        "parameters": (),
        "described": False,
    },
    "songbird": {
        "module": "songbird",
        "classes": ("Songbird",),
        "selector": "",
        "argument": "channel",
        "parameters": (),
        "described": True,
    },
    "songbird_tone": {
        "module": "songbird",
        "classes": ("DDS",),
        "selector": "",
        "argument": "channel",
        "parameters": (),
        "described": True,
    },
    "ttl_out": {
        "module": "ttl",
        "classes": ("TTLOut",),
        "selector": "",
        "argument": "channel",
        "parameters": (),
        "described": False,
    },
    "ttl_inout": {
        "module": "ttl",
        "classes": ("TTLInOut",),
        "selector": "",
        "argument": "channel",
        "parameters": (),
        "described": False,
    },
    "ttl_clockgen": {
        "module": "ttl",
        "classes": ("TTLClockGen",),
        "selector": "",
        "argument": "channel",
        "parameters": ("acc_width",),
        "described": False,
    },
    "edge_counter": {
        "module": "edge_counter",
        "classes": ("EdgeCounter",),
        "selector": "",
        "argument": "channel",
        "parameters": ("gateware_width",),
        "described": False,
    },
    "spi_master": {
        "module": "spi2",
        "classes": ("SPIMaster",),
        "selector": "",
        "argument": "channel",
        "parameters": (),
        "described": False,
    },
}
"""Drivers by kind of channel: module and classes of the core device's drivers, the parameter that selects a
class (by default the first), the argument for the channel's number, parameters that are arguments, and
whether the entry needs more than the channel knows."""
