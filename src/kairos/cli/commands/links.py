"""``kairos links``: the boards behind a core device, and the links to them."""

from ..command import Command, Option
from ..options import DEVICE_DB, KEY, device

COMMAND = Command(
    "the links of a core device, and the boards behind them",
    device("HOST[:PORT]", "address; default: 'core' of the device database"),
    DEVICE_DB,
    KEY,
    Option("--json", action="store_true", help="print them as JSON"),
    Option("--plot", metavar="FILE", help="draw them into a picture as well (.png, .pdf or .svg)"),
    runs="links.links",
    examples=(
        "kairos links",
        "kairos links -D 192.168.1.56 --json",
    ),
)
