"""``kairos log``: the laboratory's log."""

from ..command import Command, Option
from ..options import JSON, LAB, between

COMMAND = Command(
    "print the log of the laboratory, of its runs and of its controllers",
    Option("-f", "--follow", action="store_true", help="go on until Ctrl-C"),
    Option("-n", "--number", metavar="N", type=between(0), default=20, help="newest records; default: %(default)s"),
    LAB,
    JSON,
    runs="follow.log",
    examples=("kairos log", "kairos log -f --json"),
)
