"""``kairos experiments``: the experiments of the laboratory's repository."""

from ..command import Command, Option
from ..options import JSON, LAB

COMMAND = Command(
    "list the experiments of the laboratory's repository, and their arguments",
    tools={
        "list": Command("list all experiments", LAB, JSON, runs="listing.list_all"),
        "show": Command(
            "print the arguments of an experiment",
            Option("name", metavar="NAME", completes="experiment name", help="name of the experiment"),
            LAB,
            JSON,
            runs="listing.show",
        ),
        "rehearsed": Command(
            "print what the twin has found of each experiment with its defaults, and how that differs from the version "
            "before; exit code 1 if one does not pass",
            LAB,
            JSON,
            runs="listing.rehearsed",
        ),
        "scan": Command(
            "look for changed files",
            Option("-r", "--revision", metavar="REVISION", help="revision; default: the current one"),
            LAB,
            runs="listing.scan",
        ),
    },
    default="list",
    examples=(
        "kairos experiments",
        "kairos experiments list --json",
        "kairos experiments show 'Rabi flop'",
        "kairos experiments rehearsed",
        "kairos experiments scan",
    ),
)
