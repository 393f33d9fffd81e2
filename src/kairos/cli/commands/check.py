"""``kairos check``: errors in kernels, without compiling or running them."""

from ..command import Command, Option
from ..options import DEVICE_DB, STRICT

COMMAND = Command(
    "report errors in the kernels of experiments, for editors and continuous integration",
    Option("files", metavar="FILE", nargs="+", help="Python files with experiments"),
    DEVICE_DB,
    STRICT,
    Option("--format", choices=("text", "json"), default="text", help="output format; default: %(default)s"),
    Option("--json", dest="format", action="store_const", const="json", help="same as --format json"),
    runs="check.check",
    examples=(
        "kairos check blink.py",
        "kairos check --strict --json *.py",
    ),
)
