"""``kairos parameters``: persistent datasets with their history."""

from ..command import Command, Option
from ..options import JSON, LAB

_KEY = Option("key", metavar="KEY", help="name of the parameter")

COMMAND = Command(
    "show the persistent datasets of the laboratory, and every value they have had",
    tools={
        "list": Command("list values, when and by whom they were set", LAB, JSON, runs="parameters.list_all"),
        "history": Command(
            "list the values that a parameter has had, the newest first",
            _KEY,
            Option("-n", "--number", metavar="N", type=int, default=20, help="at most N; default: %(default)s"),
            LAB,
            JSON,
            runs="parameters.history",
        ),
        "restore": Command(
            "set a parameter to an earlier value",
            _KEY,
            Option("number", metavar="NUMBER", type=int, help="number of the value in the history"),
            LAB,
            runs="parameters.restore",
        ),
    },
    default="list",
    examples=(
        "kairos parameters",
        "kairos parameters list --json",
        "kairos parameters history rabi_frequency",
        "kairos parameters restore rabi_frequency 17",
    ),
)
