"""``kairos rtiomap``: channel names for the messages of a device."""

from ..command import Command, Option
from ..options import DEVICE_DB, JSON

COMMAND = Command(
    "write the names of RTIO channels in the device database as a map for the configuration key device_map",
    Option("file", metavar="FILE", help="map file; store it with: kairos device config write -f device_map FILE"),
    DEVICE_DB,
    Option("--show", action="store_true", help="print the channels of an existing map instead of writing one"),
    JSON,
    runs="rtiomap.rtiomap",
    examples=(
        "kairos rtiomap device_map",
        "kairos rtiomap --show device_map --json",
    ),
)
