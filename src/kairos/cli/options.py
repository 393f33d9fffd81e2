"""Options shared by several subcommands."""

from .command import Option

__all__ = [
    "DATASET_DB",
    "DEVICE_DB",
    "EXPERIMENT",
    "FIRMWARE",
    "GATEWARE",
    "JSON",
    "KEY",
    "STRICT",
    "device",
    "output",
    "quiet",
]

DEVICE_DB = Option("--device-db", metavar="FILE", default="device_db.py", help="default: %(default)s")

DATASET_DB = Option(
    "--dataset-db", metavar="FILE", default="dataset_db.mdb", help="datasets that are kept; default: %(default)s"
)

EXPERIMENT = (
    Option("file", metavar="FILE", help="Python file with the experiment (to run: or a kernel of 'kairos compile')"),
    Option("arguments", metavar="KEY=VALUE", nargs="*", help="arguments of the experiment, as PYON"),
    DEVICE_DB,
    DATASET_DB,
    Option("-c", "--class-name", metavar="CLASS", help="experiment class, if the file has several"),
)
"""Selects the experiment and its arguments."""

STRICT = Option("--strict", action="store_true", help="take the compiler's warnings for errors")

KEY = Option("--key", metavar="FILE", help="key of the device (its configuration: auth_key), if it has one")

JSON = Option("--json", action="store_true", help="print JSON, an object a line")

FIRMWARE = Option("--firmware", metavar="ELF", help="default: runtime.elf of the built firmware")
GATEWARE = Option("--gateware", metavar="FILE", help="bitstream; default: none")


def device(form: str, help: str, **settings) -> Option:
    """Declare the option for a device's address, in the form that the subcommand takes."""
    return Option("-D", "--device", metavar=form, help=help, **settings)


def output(help: str, **settings) -> Option:
    """Declare the option for the output file."""
    return Option("-o", "--output", metavar="FILE", help=help, **settings)


def quiet(help: str) -> Option:
    """Declare the option for less output; `help` describes what remains."""
    return Option("-q", "--quiet", action="store_true", help=help)
