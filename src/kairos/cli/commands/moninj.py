"""``kairos moninj``: levels of a device's pins and settings of its cards, seen; pins set by hand."""

from ..command import Command, Option
from ..options import DEVICE_DB, JSON, device

_NAMES = Option("names", metavar="DEVICE", nargs="+", help="a TTL of the device database, or the number of a channel")

_WATCHED = Option(
    "names",
    metavar="DEVICE",
    nargs="+",
    help="a TTL, a DDS of an Urukul or a DAC card of the device database, or the number of a channel; NAME:N: probe N",
)

_TOOLS = {
    "watch": Command(
        "print each change of levels, frequencies and voltages, until Ctrl-C",
        _WATCHED,
        Option("--for", dest="seconds", type=float, metavar="SECONDS", help="end after this time"),
        JSON,
        runs="moninj.watch",
    ),
    "set": Command(
        "take pins over, whatever experiments say",
        Option("level", choices=("0", "1"), help="the level"),
        _NAMES,
        runs="moninj.set_level",
    ),
    "release": Command("give pins back to experiments", _NAMES, runs="moninj.release"),
}

COMMAND = Command(
    "watch the pins of a core device, or set them by hand",
    device("HOST[:PORT]", "address; default: 'core' of the device database"),
    DEVICE_DB,
    tools=_TOOLS,
    examples=(
        "kairos moninj watch ttl0 ttl4",
        "kairos moninj watch urukul0_ch0 zotino0:3",
        "kairos moninj set 1 ttl4",
        "kairos moninj release ttl4",
    ),
)
