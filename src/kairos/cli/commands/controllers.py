"""``kairos controllers``: the processes that drive what is reached over the network."""

from ..command import Command, Option
from ..options import DEVICE_DB, JSON

COMMAND = Command(
    "start the controllers that the device database names for this computer, and keep them running",
    DEVICE_DB,
    Option("--bind", metavar="ADDRESS", help="where they listen; default: the host of their entry"),
    Option("--list", action="store_true", help="only say which they are, and whether they answer"),
    JSON,
    runs="controllers.controllers",
    examples=(
        "kairos controllers",
        "kairos controllers --list --json",
    ),
)
