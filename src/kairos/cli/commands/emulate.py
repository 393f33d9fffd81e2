"""``kairos emulate``: an emulated device that stays."""

from ..command import Command, Option

COMMAND = Command(
    "start an emulated device that stays, until Ctrl-C",
    Option("variant", metavar="VARIANT", nargs="?", default="demo", help="its gateware; default: %(default)s"),
    Option(
        "--offset",
        type=int,
        default=0,
        metavar="N",
        help="added to the ports 1380 to 1383 that it has on this machine, for a second one",
    ),
    Option("--log", metavar="FILE", help="write what it says on its serial line, its log"),
    Option("--bench", metavar="FILE", help="what is wired to its pins"),
    Option("--device-db", metavar="FILE", help="the chips of this database's cards are wired to its pins"),
    runs="emulate.emulate",
    examples=("kairos emulate", "kairos emulate lab --log device.log"),
)
