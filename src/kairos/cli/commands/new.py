"""``kairos new``: an experiment to begin with, and a hub."""

from ..command import Command, Option

COMMAND = Command(
    "write an experiment that runs, and a device database unless there is one; or the settings of a hub",
    Option("name", metavar="NAME", nargs="?", help="of the experiment; the file is NAME.py"),
    Option(
        "--variant", default="demo", metavar="NAME", help="emulated device of the new database; default: %(default)s"
    ),
    Option(
        "--bench", choices=("ion",), help="with what is wired to the device: laser beams, an ion, a photomultiplier"
    ),
    Option("--hub", action="store_true", help="write hub.toml, for the core devices of the device database"),
    Option("--device-db", metavar="FILE", default="device_db.py", help="of --hub; default: %(default)s"),
    runs="new.new",
    examples=(
        "kairos new rabi_flop",
        "kairos new --variant lab rabi_flop",
        "kairos new --bench ion rabi_flop",
        "kairos new --hub",
    ),
)
