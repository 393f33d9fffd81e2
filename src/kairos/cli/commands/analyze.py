"""``kairos analyze``: the events recorded by the analyzer in the gateware."""

from ..command import Command, Option
from ..options import DEVICE_DB, device

COMMAND = Command(
    "show the events recorded by the analyzer of a core device, with the slack of each output",
    Option(
        "read",
        metavar="DUMP",
        nargs="?",
        help="file written by --dump; default: read the record from the device, which then starts a new one",
    ),
    device("HOST[:PORT]", "address; default: that of 'core' in the device database"),
    DEVICE_DB,
    Option("--dump", metavar="FILE", help="write the raw record, which 'kairos analyze DUMP' can read"),
    Option("--vcd", metavar="FILE", help="write the channels over time as a VCD file"),
    Option("--plot", metavar="FILE", help="plot the pins over time (.png, .pdf, .svg)"),
    Option("--scope", metavar="FILE", help="write channels, buses and log as an HTML page (.html)"),
    Option("--table", metavar="N", default="40", help="number of messages to show, or 'all'; default: %(default)s"),
    Option(
        "--json", action="store_true", help="print each message as a JSON object instead of the table, one per line"
    ),
    runs="analyze.analyze",
    examples=(
        "kairos analyze --vcd events.vcd",
        "kairos analyze -D 192.168.1.56 --dump record.bin",
        "kairos analyze record.bin --json",
    ),
)
