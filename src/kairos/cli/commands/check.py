"""``kairos check``: errors in kernels, without compiling or running them."""

from ..command import Command, Option
from ..options import DATASET_DB, DEVICE_DB, STRICT, TWIN

COMMAND = Command(
    "report errors in the kernels of experiments, for editors and continuous integration",
    Option(
        "files",
        metavar="FILE",
        nargs="+",
        help="Python files with experiments; with --timing, which options of rehearsals imply, also arguments of the "
        "experiments, as KEY=VALUE",
    ),
    DEVICE_DB,
    STRICT,
    Option("--format", choices=("text", "json", "sarif"), default="text", help="output format; default: %(default)s"),
    Option("--json", dest="format", action="store_const", const="json", help="same as --format json"),
    Option("--sarif", dest="format", action="store_const", const="sarif", help="same as --format sarif"),
    Option(
        "--timing",
        action="store_true",
        help="rehearse each experiment on its emulated device: least slack of each line, lost outputs, duration",
    ),
    Option("-c", "--class-name", metavar="CLASS", completes="class", help="rehearse this experiment only"),
    DATASET_DB,
    *TWIN,
    runs="check.check",
    examples=(
        "kairos check blink.py",
        "kairos check --strict --json *.py",
        "kairos check --timing --least-slack 1us scan.py points=3",
    ),
)
