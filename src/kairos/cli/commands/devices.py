"""``kairos devices``: list a device database, or generate one."""

from ..command import Command, Option
from ..options import DEVICE_DB, JSON, KEY, output

COMMAND = Command(
    "list the devices of a device database, or generate a database from a system description or a device",
    DEVICE_DB,
    JSON,
    Option(
        "--from",
        dest="source",
        metavar="FILE|HOST[:PORT]",
        help="generate the database from this system description (JSON), from the gateware of this device, or from the "
        "emulated device emulator://VARIANT",
    ),
    Option(
        "--host",
        metavar="ADDRESS",
        help="with --from: address of the device; default: that of the description, or HOST",
    ),
    KEY,
    output("with --from: output file; default: standard output (-)"),
    runs="devices.devices",
    examples=(
        "kairos devices --json",
        "kairos devices --from 192.168.1.56 -o device_db.py",
        "kairos devices --from system.json --host 192.168.1.56",
        "kairos devices --from emulator://lab -o device_db.py",
    ),
)
