"""``kairos analyze``: what the analyzer in the gateware has recorded."""

from ..command import Command, Option
from ..options import DEVICE_DB, device

COMMAND = Command(
    "show what the analyzer of a core device has recorded: every event, with the time it had to spare",
    Option("read", metavar="DUMP", nargs="?", help="a file of --dump; default: fetch it, the device begins anew"),
    device("HOST[:PORT]", "address; default: 'core' of the device database"),
    DEVICE_DB,
    Option("--dump", metavar="FILE", help="write the record as it is, to be read again"),
    Option("--vcd", metavar="FILE", help="write channels over time as a VCD file"),
    Option("--plot", metavar="FILE", help="draw the pins (.png, .pdf, .svg)"),
    Option("--scope", metavar="FILE", help="write channels, buses and log as a page for a browser (.html)"),
    Option("--table", metavar="N", default="40", help="messages to show, or 'all'; default: %(default)s"),
    Option("--json", action="store_true", help="print every message as a line of JSON in place of the table"),
    runs="analyze.analyze",
    examples=(
        "kairos analyze --vcd events.vcd",
        "kairos analyze -D 192.168.1.56 --dump record.bin",
        "kairos analyze record.bin --json",
    ),
)
