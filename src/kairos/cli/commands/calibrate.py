"""``kairos calibrate``: calibrations in the order in which they need one another."""

from ..command import Command, Option
from ..options import JSON, LAB

COMMAND = Command(
    "calibrate the parameters that are stale, and first those that they need",
    Option(
        "names",
        metavar="NAME",
        nargs="*",
        completes="calibration",
        help="parameters or experiments; default: everything that is stale",
    ),
    Option("-f", "--force", action="store_true", help="calibrate what is named even if it is valid"),
    Option("--list", action="store_true", help="list the calibrations in their order, and do nothing"),
    Option("--detach", action="store_true", help="do not wait for the end"),
    Option("--stop", metavar="NUMBER", type=int, help="stop a calibration that is in progress"),
    LAB,
    JSON,
    runs="calibrate.calibrate",
    examples=(
        "kairos calibrate",
        "kairos calibrate rabi_frequency",
        "kairos calibrate rabi_frequency --force --json",
        "kairos calibrate --list",
        "kairos calibrate --detach",
        "kairos calibrate --stop 4",
    ),
)
