"""``kairos parameters``: persistent datasets with their history."""

from ..command import Command, Option
from ..options import JSON, LAB, between

_NUMBERS = Option("numbers", metavar="NUMBER", type=int, nargs="+", help="number of a value that waits")
_NOTE = Option("--note", metavar="TEXT", default="", help="why, for the history")
_KEY = Option("key", metavar="KEY", completes="parameter", help="name of the parameter")

COMMAND = Command(
    "show the persistent datasets of the laboratory, every value they have had, and what needs to be calibrated",
    tools={
        "list": Command("list values, when and by whom they were set", LAB, JSON, runs="parameters.list_all"),
        "stale": Command("list what is older than it is valid, and why", LAB, JSON, runs="parameters.stale"),
        "proposed": Command(
            "list the values of calibrations that wait for a person", LAB, JSON, runs="parameters.proposed"
        ),
        "accept": Command("set parameters to values that wait", _NUMBERS, _NOTE, LAB, runs="parameters.accept"),
        "reject": Command("reject values that wait", _NUMBERS, _NOTE, LAB, runs="parameters.reject"),
        "history": Command(
            "list the values that a parameter has had, the newest first",
            _KEY,
            Option("-n", "--number", metavar="N", type=between(0), default=20, help="at most N; default: %(default)s"),
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
        "kairos parameters stale",
        "kairos parameters proposed",
        "kairos parameters accept 3 --note 'after the new fibre'",
        "kairos parameters reject 4",
        "kairos parameters history rabi_frequency",
        "kairos parameters restore rabi_frequency 17",
    ),
)
