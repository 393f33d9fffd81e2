"""``kairos emulate``: a persistent emulated device."""

from ..command import Command, Option

COMMAND = Command(
    "run an emulated device until Ctrl-C",
    Option("variant", metavar="VARIANT", nargs="?", default="demo", help="gateware variant; default: %(default)s"),
    Option(
        "--offset",
        type=int,
        default=0,
        metavar="N",
        help="offset added to its ports on this machine (1380 to 1383), to run several devices",
    ),
    Option("--log", metavar="FILE", help="write the serial console output (the log) of the device to this file"),
    Option(
        "--storage",
        metavar="FILE",
        help="keep its configuration in this file, the image of an SD card; default: until it ends",
    ),
    Option("--bench", metavar="FILE", help="wiring of its pins (bench.toml)"),
    Option("--device-db", metavar="FILE", help="connect the chips of the cards in this device database to its pins"),
    runs="emulate.emulate",
    examples=("kairos emulate", "kairos emulate lab --log device.log", "kairos emulate --storage lab.card"),
)
