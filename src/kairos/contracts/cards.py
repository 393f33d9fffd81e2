"""Cards and their drivers.

Generated from src/contracts/cards/*.toml by src/contracts/generate.py: do not edit.
"""

__all__ = ["CARDS", "CHANNEL_DRIVERS", "COUNTS", "MEASURING", "PINS", "PLACES", "SCOPE", "WIRING", "WITHOUT_MODEL"]

CARDS = {
    "AD53xx": "ad53xx",
    "AD9834": "ad9834",
    "CXPGrabber": "cxp",
    "DAC34H84": "dac34h84",
    "AD9914": "ddsbus",
    "Fastino": "fastino",
    "Grabber": "grabber",
    "HMC542B": "hmc542b",
    "Mirny": "mirny",
    "PhaserMTDDS": "mtdds",
    "Novogorny": "novogorny",
    "Phaser": "phaser",
    "Sampler": "sampler",
    "SUServo": "sampler",
    "Config": "shuttler",
    "Relay": "shuttler",
    "Songbird": "songbird",
    "TRF372017": "trf372017",
    "CPLD": "urukul",
    "Zotino": "zotino",
}
"""Kinds of the cards with a model, by the driver class of the entry that stands for one."""

COUNTS = {
    "mirny": 4,
    "urukul": 4,
    "zotino": 32,
}
"""Numbers of channels, by kinds of cards."""

PLACES = {
    "AD53xx": ("spi_device", "chip_select"),
    "AD9834": ("spi_device", None),
    "DAC34H84": ("spi_device", None),
    "AD9914": ("bus_channel", "channel"),
    "HMC542B": ("spi_device", None),
    "ADF5356": ("cpld_device", "channel"),
    "AlmaznyLegacy": ("host_mirny", None),
    "AlmaznyChannel": ("host_mirny", "channel"),
    "TRF372017": ("spi_device", None),
    "AD9910": ("cpld_device", "chip_select"),
    "AD9912": ("cpld_device", "chip_select"),
}
"""Driver classes of chips: the arguments that name the card or bus, and the chip on it (None: the only one)."""

WIRING = {
    "AD53xx": {
        "lines": {
            "spi": "spi_device",
            "ldac": "ldac_device",
            "clr": "clr_device",
        },
        "settings": {
            "vref": ("vref", "number"),
        },
        "derived": "ad53xx",
    },
    "AD9834": {
        "lines": {
            "spi": "spi_device",
        },
        "settings": {
            "clock_hz": ("clk_freq", "number"),
        },
    },
    "CXPGrabber": {
        "channels": {
            "spi": "channel",
        },
    },
    "DAC34H84": {
        "lines": {
            "spi": "spi_device",
        },
        "derived": "on_card",
    },
    "AD9914": {
        "channels": {
            "bus": "bus_channel",
        },
        "settings": {
            "clock_hz": ("sysclk", "number"),
        },
    },
    "Fastino": {
        "channels": {
            "spi": "channel",
        },
    },
    "Grabber": {
        "channels": {
            "spi": "channel_base",
        },
    },
    "HMC542B": {
        "lines": {
            "spi": "spi_device",
        },
        "derived": "on_card",
    },
    "Mirny": {
        "lines": {
            "spi": "spi_device",
        },
        "derived": "mirny",
    },
    "ADF5356": {
        "lines": {
            "sw": "sw_device",
        },
    },
    "AlmaznyLegacy": {
        "implies": {
            "almazny": "v1.1",
        },
    },
    "AlmaznyChannel": {
        "implies": {
            "almazny": "v1.2",
        },
    },
    "PhaserMTDDS": {
        "channels": {
            "config": "channel",
        },
        "derived": "mtdds",
    },
    "Novogorny": {
        "lines": {
            "adc": "spi_device",
            "cnv": "cnv_device",
        },
    },
    "Phaser": {
        "channels": {
            "spi": "channel_base",
        },
        "settings": {
            "gw_rev": ("gw_rev", (1, 2)),
        },
    },
    "Sampler": {
        "lines": {
            "adc": "spi_adc_device",
            "pgia": "spi_pgia_device",
            "cnv": "cnv_device",
        },
        "settings": {
            "hw_rev": ("hw_rev", "text"),
        },
    },
    "SUServo": {
        "lines": {
            "pgia": "pgia_device",
        },
        "channels": {
            "servo": "channel",
        },
        "settings": {
            "hw_rev": ("sampler_hw_rev", "text"),
        },
    },
    "Config": {
        "derived": "shuttler",
    },
    "Relay": {
        "derived": "shuttler",
    },
    "Songbird": {
        "lines": {
            "spi": "spi_device",
        },
        "channels": {
            "config": "channel",
        },
    },
    "TRF372017": {
        "lines": {
            "spi": "spi_device",
        },
        "settings": {
            "reference_hz": ("refclk", "number"),
        },
        "derived": "on_card",
    },
    "CPLD": {
        "lines": {
            "spi": "spi_device",
            "io_update": "io_update_device",
            "sync": "sync_device",
        },
        "settings": {
            "proto_rev": ("proto_rev", (8, 9)),
        },
        "derived": "urukul",
    },
    "AD9910": {
        "lines": {
            "sw": "sw_device",
        },
        "first": 4,
    },
    "AD9912": {
        "lines": {
            "sw": "sw_device",
        },
        "implies": {
            "dds": "ad9912",
        },
        "first": 4,
    },
    "Zotino": {
        "lines": {
            "spi": "spi_device",
            "ldac": "ldac_device",
            "clr": "clr_device",
        },
        "settings": {
            "vref": ("vref", "number"),
        },
    },
}
"""By driver class: lines of the model, with the argument that names the device whose channel has them; its channels,
with the argument that is their number; its settings, with argument and type or valid values; settings that a chip
implies; the number of a card's first chip; the function that completes all this."""

SCOPE = {
    "AD53xx": {
        "driver": "ad53xx",
        "card": "",
        "chip": "ad53xx",
        "bus": "spi_device",
        "selects": {},
    },
    "AD9834": {
        "driver": "ad9834",
        "card": "",
        "chip": "ad9834",
        "bus": "spi_device",
        "selects": {
            1: "",
        },
    },
    "HMC542B": {
        "driver": "hmc542b",
        "card": "",
        "chip": "hmc542b",
        "bus": "spi_device",
        "selects": {
            1: "",
        },
    },
    "Mirny": {
        "driver": "mirny",
        "card": "",
        "chip": "mirny",
        "bus": "spi_device",
        "selects": {
            1: "",
        },
    },
    "Novogorny": {
        "driver": "novogorny",
        "card": "",
        "chip": "novogorny",
        "bus": "spi_device",
        "selects": {
            1: "",
            2: " amplifiers",
        },
    },
    "Sampler": {
        "driver": "sampler",
        "card": "",
        "chip": "sampler",
        "bus": "spi_pgia_device",
        "selects": {
            1: " amplifiers",
        },
    },
    "SUServo": {
        "driver": "suservo",
        "card": "",
        "chip": "sampler",
        "bus": "pgia_device",
        "selects": {
            1: " amplifiers",
        },
    },
    "Relay": {
        "driver": "shuttler",
        "card": "",
        "chip": "shuttler",
        "bus": "spi_device",
        "selects": {
            1: "",
        },
    },
    "Songbird": {
        "driver": "songbird",
        "card": "",
        "chip": "songbird",
        "bus": "spi_device",
        "selects": {
            1: " DAC",
        },
    },
    "CPLD": {
        "driver": "urukul",
        "card": "",
        "chip": "urukul",
        "bus": "spi_device",
        "selects": {
            1: "",
            2: " attenuators",
        },
    },
    "AD9910": {
        "driver": "ad9910",
        "card": "urukul.CPLD",
        "chip": "ad9910",
        "bus": "spi_device",
        "selects": {},
    },
    "AD9912": {
        "driver": "ad9912",
        "card": "urukul.CPLD",
        "chip": "ad9912",
        "bus": "spi_device",
        "selects": {},
    },
    "SharedDDS": {
        "driver": "suservo_dds",
        "card": "urukul.CPLD",
        "chip": "ad9910",
        "bus": "spi_device",
        "selects": {
            3: "",
        },
    },
    "Zotino": {
        "driver": "zotino",
        "card": "",
        "chip": "ad53xx",
        "bus": "spi_device",
        "selects": {
            1: "",
        },
    },
}
"""Driver classes whose messages are described on the scope's page: the driver's module; of a chip on a card the card's
driver; the chip; the argument that names the bus; chip selects that are not arguments, with the suffix of the device's
name."""

MEASURING = ("Novogorny", "Sampler")
"""Cards whose inputs measure voltages."""

PINS = ("TTLOut", "TTLInOut", "TTLClockGen")
"""Driver classes of single pins."""

WITHOUT_MODEL = ()
"""Driver classes of cards without a model."""

CHANNEL_DRIVERS = {
    "cxp_trigger": {
        "module": "cxp_grabber",
        "classes": ("CXPGrabber",),
        "selector": "",
        "argument": "channel",
        "parameters": (),
        "described": False,
    },
    "ad9914": {
        "module": "ad9914",
        "classes": ("AD9914",),
        "selector": "",
        "argument": "bus_channel",
        "parameters": (),
        "described": True,
    },
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
    "mtdds": {
        "module": "phaser",
        "classes": ("PhaserMTDDS",),
        "selector": "",
        "argument": "channel",
        "parameters": (),
        "described": True,
    },
    "mtdds_tone": {
        "module": "phaser",
        "classes": ("PhaserDDS",),
        "selector": "",
        "argument": "channel",
        "parameters": (),
        "described": True,
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
