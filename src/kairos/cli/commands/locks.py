"""``kairos locks``: a pipeline or a device for oneself."""

from ..command import Command, Option
from ..options import JSON, LAB

_KIND = Option("kind", choices=("pipeline", "device"), help="what is locked")
_NAME = Option("name", metavar="NAME", completes="lockable", help="its name")

COMMAND = Command(
    "show the locks of pipelines and devices, take and release them",
    tools={
        "list": Command("list the locks", LAB, JSON, runs="locks.list_all"),
        "take": Command(
            "lock a pipeline or a device: runs that others submit wait",
            _KIND,
            _NAME,
            Option("--for", dest="duration", metavar="TIME", default="1h", help="30min, 2h, 1d; default: %(default)s"),
            Option("--note", metavar="TEXT", default="", help="why, for others"),
            LAB,
            runs="locks.take",
        ),
        "release": Command(
            "release a lock",
            _KIND,
            _NAME,
            Option("-f", "--force", action="store_true", help="even if it is somebody else's"),
            LAB,
            runs="locks.release",
        ),
    },
    default="list",
    examples=(
        "kairos locks",
        "kairos locks list --json",
        "kairos locks take pipeline main --for 2h --note 'aligning the 729'",
        "kairos locks take device core",
        "kairos locks release pipeline main",
    ),
)
