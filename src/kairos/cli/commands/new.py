"""``kairos new``: template of an experiment or of a hub's settings."""

from ..command import Command, Option

COMMAND = Command(
    "create an example experiment, and a device database if there is none; the settings of a hub; a laboratory",
    Option("name", metavar="NAME", nargs="?", help="name of the experiment; the file is NAME.py"),
    Option(
        "--variant",
        default="demo",
        metavar="NAME",
        help="variant of the emulated device in the new database; default: %(default)s",
    ),
    Option(
        "--bench", choices=("ion",), help="also create the wiring of a bench: laser beams, an ion, a photomultiplier"
    ),
    Option(
        "--lab", action="store_true", help="create the folder NAME of a laboratory, with an emulated device and an ion"
    ),
    Option("--hub", action="store_true", help="write hub.toml, for the core devices of the device database"),
    Option(
        "--device-db", metavar="FILE", default="device_db.py", help="with --hub: device database; default: %(default)s"
    ),
    runs="new.new",
    examples=(
        "kairos new rabi_flop",
        "kairos new --variant lab rabi_flop",
        "kairos new --bench ion rabi_flop",
        "kairos new --hub",
        "kairos new --lab trap",
    ),
)
