"""``kairos watch``: live datasets of the laboratory."""

from ..command import Command, Option
from ..options import JSON, LAB

COMMAND = Command(
    "print datasets of the laboratory whenever they change, until Ctrl-C",
    Option("keys", metavar="KEY", nargs="*", completes="dataset", help="names of datasets; default: all"),
    LAB,
    JSON,
    runs="follow.watch",
    examples=("kairos watch", "kairos watch excitation --json"),
)
