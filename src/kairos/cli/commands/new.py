"""``kairos new``: an experiment to begin with."""

from ..command import Command, Option

COMMAND = Command(
    "write an experiment that runs, and a device database unless there is one",
    Option("name", metavar="NAME", help="of the experiment; the file is NAME.py"),
    Option(
        "--variant", default="demo", metavar="NAME", help="emulated device of the new database; default: %(default)s"
    ),
    Option(
        "--bench", choices=("ion",), help="with what is wired to the device: laser beams, an ion, a photomultiplier"
    ),
    runs="new.new",
    examples=(
        "kairos new rabi_flop",
        "kairos new --variant lab rabi_flop",
        "kairos new --bench ion rabi_flop",
    ),
)
