"""``kairos alarms``: values that are out of their limits."""

from ..command import Command, Option
from ..options import JSON, LAB, between

COMMAND = Command(
    "show the alarms of the laboratory, and acknowledge them",
    tools={
        "list": Command(
            "list alarms, those that are out first; exit code 1 if one is", LAB, JSON, runs="alarms.list_all"
        ),
        "acknowledge": Command(
            "say that you know",
            Option("names", metavar="NAME", nargs="+", completes="alarm", help="names of alarms"),
            Option("--note", metavar="TEXT", default="", help="a note for others"),
            LAB,
            runs="alarms.acknowledge",
        ),
        "history": Command(
            "list what has happened to alarms, the newest first",
            Option("-n", "--number", metavar="N", type=between(0), default=20, help="at most N; default: %(default)s"),
            LAB,
            JSON,
            runs="alarms.history",
        ),
        "test": Command("send a test message to the recipients of 'test' in lab.toml", LAB, runs="alarms.test"),
    },
    default="list",
    examples=(
        "kairos alarms",
        "kairos alarms list --json",
        "kairos alarms acknowledge 'trap RF' --note 'the amplifier warms up'",
        "kairos alarms history",
        "kairos alarms test",
    ),
)
