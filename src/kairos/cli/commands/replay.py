"""``kairos replay``: what the device did in a run, again."""

from ..command import Command, Option
from ..options import JSON, LAB

COMMAND = Command(
    "repeat a run on the twin from its recorded kernels and answers: its kernels take the same branches, host "
    "functions are not called; exit code 1 if the pins do something else",
    Option("run", metavar="RUN", completes="run", help="number of the run, or its HDF5 file"),
    Option(
        "--at",
        metavar="TIME",
        nargs="+",
        default=[],
        help="show the pins, the line of source and the variables of the kernel at these times after the first event "
        "of the pins",
    ),
    Option(
        "--scope",
        metavar="FILE",
        help="write an HTML page of everything that happened, with a debugger of the kernels: source lines and "
        "variables, forwards and backwards",
    ),
    Option("--twin", metavar="URL", help="emulated device of a run that was not on one: emulator://VARIANT"),
    LAB,
    JSON,
    runs="twin:replay.replay",
    examples=(
        "kairos replay today.h5",
        "kairos replay today.h5 --at 1.5us 12us",
        "kairos replay today.h5 --scope today.html",
    ),
)
