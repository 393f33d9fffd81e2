"""``kairos devices``: what a device database has, and the database of a system description."""

from ..command import Command, Option
from ..options import DEVICE_DB, JSON, output

COMMAND = Command(
    "list the devices of a device database, or write the database of a system description",
    DEVICE_DB,
    JSON,
    Option("--from", dest="source", metavar="FILE", help="write the database of this system description (JSON)"),
    Option("--host", metavar="ADDRESS", help="with --from: of the device; default: the description's"),
    output("with --from; default: standard output"),
    runs="devices.devices",
)
