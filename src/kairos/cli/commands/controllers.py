"""``kairos controllers``: the controller processes of network devices."""

from ..command import Command, Option
from ..options import DEVICE_DB, JSON, between

COMMAND = Command(
    "start the controllers that the device database assigns to this computer, and keep them running",
    DEVICE_DB,
    Option("--bind", metavar="ADDRESS", help="address to listen on; default: the host in the device database entry"),
    Option(
        "--port",
        metavar="N",
        type=between(0, 65535),
        default=3249,
        help="port of this computer at which clients of ARTIQ's controller manager call; 0: any; default: %(default)s",
    ),
    Option("--list", action="store_true", help="only list the controllers and whether they answer"),
    JSON,
    runs="controllers.controllers",
    examples=(
        "kairos controllers",
        "kairos controllers --list --json",
    ),
)
