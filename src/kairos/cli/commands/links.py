"""``kairos links``: the links of a core device and the boards connected through them."""

from ..command import Command, Option
from ..options import DEVICE_DB, KEY, device

COMMAND = Command(
    "show the links of a core device and the boards connected through them",
    device("HOST[:PORT]", "address; default: that of 'core' in the device database"),
    DEVICE_DB,
    KEY,
    Option("--json", action="store_true", help="print JSON instead of a table"),
    Option("--plot", metavar="FILE", help="also draw the topology (.png, .pdf, .svg)"),
    runs="links.links",
    examples=(
        "kairos links",
        "kairos links -D 192.168.1.56 --json",
    ),
)
