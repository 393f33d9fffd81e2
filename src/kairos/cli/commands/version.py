"""``kairos version``: the version of Kairos."""

from ..command import Command
from ..options import JSON

COMMAND = Command(
    "print the version",
    JSON,
    runs="version.show",
    examples=(
        "kairos version",
        "kairos version --json",
    ),
)
