"""``kairos lsp``: what `kairos check` finds, in editors."""

from ..command import Command, Option
from ..options import TWIN

COMMAND = Command(
    "serve an editor by the Language Server Protocol: errors and slack of experiments, when they are opened or saved",
    Option("--device-db", metavar="FILE", help="device database; default: device_db.py next to the file, or above it"),
    Option("--timing", action="store_true", help="rehearse experiments, and show the least slack behind each line"),
    *TWIN,
    runs="lsp.serve",
    examples=("kairos lsp --timing --least-slack 1us",),
)
