"""``kairos bench``: the parts connected to the pins of an emulated device."""

from ..command import Command, Option
from ..options import DEVICE_DB, JSON, output

FILE = Option(
    "file", metavar="FILE", nargs="?", help="wiring; default: bench.toml next to the device database, if there is one"
)

COMMAND = Command(
    "check or draw the wiring of an emulated device's pins",
    tools={
        "check": Command(
            "list the connected parts, or report the errors in the file", FILE, DEVICE_DB, JSON, runs="bench.check"
        ),
        "draw": Command(
            "draw the parts and their wiring",
            FILE,
            DEVICE_DB,
            output("image file (.png, .pdf, .svg); default: %(default)s", default="bench.png"),
            runs="bench.draw",
        ),
    },
    examples=(
        "kairos bench check",
        "kairos bench draw --device-db examples/ion/device_db.py -o wiring.svg",
    ),
)
