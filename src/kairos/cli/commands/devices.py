"""``kairos devices``: what a device database has, and the database of a system description or a device."""

from ..command import Command, Option
from ..options import DEVICE_DB, JSON, KEY, output

COMMAND = Command(
    "list the devices of a device database, or write the database of a system description or a device",
    DEVICE_DB,
    JSON,
    Option(
        "--from",
        dest="source",
        metavar="FILE|HOST[:PORT]",
        help="write the database of this system description (JSON), of what this device says of its gateware, or of "
        "the emulated device emulator://VARIANT",
    ),
    Option("--host", metavar="ADDRESS", help="with --from: of the device; default: the description's, or HOST"),
    KEY,
    output("with --from; default: standard output (-)"),
    runs="devices.devices",
    examples=(
        "kairos devices --json",
        "kairos devices --from 192.168.1.56 -o device_db.py",
        "kairos devices --from system.json --host 192.168.1.56",
        "kairos devices --from emulator://lab -o device_db.py",
    ),
)
