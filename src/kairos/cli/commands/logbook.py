"""``kairos logbook``: what people and runs have noted."""

from ..command import Command, Option
from ..options import JSON, LAB, between

_WORDS = Option("words", nargs="*", metavar="WORD", help="entries that have all of these words, or run=NUMBER")

COMMAND = Command(
    "read the logbook of the laboratory, write into it, export it",
    tools={
        "list": Command(
            "print the entries, the newest first",
            _WORDS,
            Option(
                "-n", "--number", type=between(0), default=20, metavar="N", help="at most; 0: all; default: %(default)s"
            ),
            LAB,
            JSON,
            runs="logbook.list_all",
        ),
        "add": Command(
            "write an entry",
            Option("text", metavar="TEXT", help="its text, Markdown; '-' reads it from the standard input"),
            Option("--run", type=int, metavar="RUN", completes="run", help="the run that it is about"),
            Option("--picture", metavar="FILE", help="a PNG file"),
            LAB,
            JSON,
            runs="logbook.add",
        ),
        "export": Command(
            "write entries as Markdown, the oldest first, their pictures into the folder 'logbook' beside it",
            _WORDS,
            Option("-o", "--output", metavar="FILE", default="logbook.md", help="file; default: %(default)s"),
            LAB,
            runs="logbook.export",
        ),
    },
    default="list",
    examples=(
        "kairos logbook",
        "kairos logbook list laser run=12 --json",
        "kairos logbook add 'aligned the 729' --run 12",
        "kairos logbook export -o october.md",
    ),
)
