"""``kairos queue``: the laboratory's queue."""

from ..command import Command, Option
from ..options import CHANGED, JSON, LAB, QUEUED, between

COMMAND = Command(
    "show or change the queue of the laboratory",
    tools={
        "list": Command("list the runs in their order, and why they wait", LAB, JSON, runs="queue.list_all"),
        "move": Command(
            "place a waiting run before or behind another one",
            QUEUED,
            Option("--before", metavar="RUN", type=int, completes="queued", help="run before which it is placed"),
            Option("--behind", metavar="RUN", type=int, completes="queued", help="run behind which it is placed"),
            LAB,
            runs="queue.move",
        ),
        "hold": Command(
            "hold a waiting run", QUEUED, Option("--note", metavar="TEXT", help="reason"), LAB, runs="queue.hold"
        ),
        "pause": Command(
            "have a run pause when it can, until it is released",
            QUEUED,
            Option("--note", metavar="TEXT", help="reason"),
            LAB,
            runs="queue.hold",
        ),
        "release": Command(
            "release a run that is held or paused, or that waits for a run that has failed",
            QUEUED,
            LAB,
            runs="queue.release",
        ),
        "edit": Command(
            "change a waiting run",
            QUEUED,
            CHANGED,
            Option("-p", "--pipeline", metavar="NAME", completes="pipeline", help="pipeline"),
            Option("-P", "--priority", metavar="N", type=int, help="priority, higher first"),
            Option("-t", "--due", metavar="TIME", help="not to be prepared before: 22:30, or 2026-05-01T22:30"),
            Option("--repeat", metavar="N", type=between(-1), help="submit it again N times; -1: without end"),
            LAB,
            runs="queue.edit",
        ),
        "answer": Command(
            "give a run the arguments that it asks for while it runs",
            QUEUED,
            Option(
                "arguments", metavar="KEY=VALUE", nargs="*", completes="argument", help="values; others: the defaults"
            ),
            Option("--cancel", action="store_true", help="refuse: the experiment gets CancelledArgsError"),
            LAB,
            runs="queue.answer",
        ),
        "terminate": Command(
            "end runs at their next pause; those that have not begun are deleted",
            Option("runs", metavar="RUN", type=int, completes="queued", nargs="+", help="numbers of the runs"),
            Option("--force", action="store_true", help="end them at once; what they have measured is kept"),
            LAB,
            runs="queue.terminate",
        ),
    },
    default="list",
    examples=(
        "kairos queue",
        "kairos queue list --json",
        "kairos queue move 12 --before 9",
        "kairos queue hold 12 --note 'the laser is off'",
        "kairos queue pause 9",
        "kairos queue release 12",
        "kairos queue edit 12 points=50 --priority 1",
        "kairos queue answer 12 power=2mW",
        "kairos queue terminate 7 --force",
    ),
)
