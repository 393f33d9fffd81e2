"""``kairos rtiomap``: names for the channels in a device's messages."""

from ..command import Command, Option
from ..options import DEVICE_DB, JSON

COMMAND = Command(
    "write the names of RTIO channels from the device database, for the device's configuration (device_map)",
    Option("file", metavar="FILE", help="the map: kairos device config write -f device_map FILE"),
    DEVICE_DB,
    Option("--show", action="store_true", help="print the channels of a map that is there, and write nothing"),
    JSON,
    runs="rtiomap.rtiomap",
    examples=(
        "kairos rtiomap device_map",
        "kairos rtiomap --show device_map --json",
    ),
)
