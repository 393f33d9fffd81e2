"""``kairos rehearse``: run an experiment on the twin of its laboratory, and say what would happen."""

from ..command import Command, Option
from ..options import EXPERIMENT, JSON, TWIN

COMMAND = Command(
    "run an experiment on the emulated twin of its laboratory, and report points, duration, slack and errors",
    *EXPERIMENT,
    *TWIN,
    Option(
        "--all",
        action="store_true",
        help="rehearse every experiment in the folder FILE, and below it, with the defaults of its arguments",
    ),
    Option("--record", metavar="FILE", help="with --all: write what was found to this file (JSON)"),
    Option("--against", metavar="FILE", help="with --all: report what differs from such a file"),
    Option("--lines", action="store_true", help="show each line that makes outputs, with its least slack"),
    Option("-v", "--verbose", action="store_true", help="show what the experiment prints"),
    JSON,
    runs="twin:commands.rehearse",
    examples=(
        "kairos rehearse blink.py",
        "kairos rehearse scan.py points=101 --lines --least-slack 1us",
        "kairos rehearse --all repository --against main.json --record new.json",
        "kairos rehearse scan.py --twin emulator://ion --within 10s",
    ),
)
