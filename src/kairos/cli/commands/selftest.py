"""``kairos selftest``: tests of the cards of a device."""

from ..command import Command, Option
from ..options import DEVICE_DB, JSON, output, quiet

COMMAND = Command(
    "test the cards of a device: on the bench of an emulated one, or with your instruments",
    Option(
        "cards",
        metavar="CARD",
        nargs="*",
        help="entries of the device database, or the beginning of their names up to '_' or '/'; default: every card",
    ),
    DEVICE_DB,
    output("page with the results; default: %(default)s", default="selftest.html"),
    Option("--list", action="store_true", help="say what would be tested, and do nothing"),
    Option(
        "--no-questions",
        action="store_true",
        help="make only the checks that need no instrument; the default if the input is no terminal",
    ),
    Option(
        "--write-eeprom",
        action="store_true",
        help="also calibrate the AD9910s whose delays are in EEPROMs, and write those that differ; asks before each",
    ),
    Option(
        "--twin",
        metavar="URL",
        help="test on the bench of this emulated device, emulator://VARIANT, instead of the core device",
    ),
    Option("--core", metavar="NAME", default="core", help="core device whose cards are tested; default: %(default)s"),
    JSON,
    quiet("print failed checks only"),
    runs="selftest:command.selftest",
    examples=(
        "kairos selftest",
        "kairos selftest urukul0 zotino0 -o cards.html",
        "kairos selftest --list",
        "kairos selftest urukul0 --write-eeprom",
        "kairos selftest --twin emulator://lab",
    ),
)
"""Declaration of the subcommand."""
