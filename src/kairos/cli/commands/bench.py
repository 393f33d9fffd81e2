"""``kairos bench``: what is wired to the pins of an emulated device."""

from ..command import Command, Option
from ..options import DEVICE_DB, JSON, output

FILE = Option("file", metavar="FILE", nargs="?", help="default: bench.toml beside the device database, or none")

COMMAND = Command(
    "check and draw what is wired to the pins of an emulated device",
    tools={
        "check": Command(
            "say what is wired, or what is wrong with the file", FILE, DEVICE_DB, JSON, runs="bench.check"
        ),
        "draw": Command(
            "draw parts and wires",
            FILE,
            DEVICE_DB,
            output("picture (.png, .pdf, .svg); default: %(default)s", default="bench.png"),
            runs="bench.draw",
        ),
    },
    examples=(
        "kairos bench check",
        "kairos bench draw --device-db examples/ion/device_db.py -o wiring.svg",
    ),
)
