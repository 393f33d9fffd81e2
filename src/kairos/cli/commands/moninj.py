"""``kairos moninj``: monitor pins and cards of a device, and override pins."""

from ..command import Command, Option
from ..options import DEVICE_DB, JSON, between, device

_NAMES = Option(
    "names",
    metavar="DEVICE",
    nargs="+",
    completes="device",
    help="TTL in the device database, or channel number",
)

_WATCHED = Option(
    "names",
    metavar="DEVICE",
    nargs="+",
    completes="device",
    help="TTL, Urukul DDS or DAC card in the device database, or channel number; NAME:N selects probe N",
)

_TOOLS = {
    "watch": Command(
        "print each change of levels, frequencies and voltages, until Ctrl-C",
        _WATCHED,
        Option("--for", dest="seconds", type=between(0, kind=float), metavar="SECONDS", help="stop after this time"),
        JSON,
        runs="moninj.watch",
    ),
    "set": Command(
        "override pins with a level, regardless of experiments",
        Option("level", choices=("0", "1"), help="level to set"),
        _NAMES,
        runs="moninj.set_level",
    ),
    "release": Command("return pins to the control of experiments", _NAMES, runs="moninj.release"),
}

COMMAND = Command(
    "monitor the pins of a core device, or override them",
    device("HOST[:PORT]", "address; default: that of 'core' in the device database"),
    DEVICE_DB,
    tools=_TOOLS,
    examples=(
        "kairos moninj watch ttl0 ttl4",
        "kairos moninj watch urukul0_ch0 zotino0:3",
        "kairos moninj set 1 ttl4",
        "kairos moninj release ttl4",
    ),
)
