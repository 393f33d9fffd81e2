"""Options shared by several subcommands."""

from argparse import ArgumentTypeError

from .command import Option

__all__ = [
    "ARGUMENTS",
    "CHANGED",
    "CLASS",
    "DATASET_DB",
    "DEVICE_DB",
    "EXPERIMENT",
    "FIRMWARE",
    "GATEWARE",
    "JSON",
    "KEY",
    "LAB",
    "PORT",
    "QUEUED",
    "RUN",
    "STRICT",
    "TWIN",
    "VERBOSE",
    "between",
    "device",
    "log_level",
    "output",
    "quiet",
]

DEVICE_DB = Option("--device-db", metavar="FILE", default="device_db.py", help="device database; default: %(default)s")

DATASET_DB = Option(
    "--dataset-db", metavar="FILE", default="dataset_db.mdb", help="file with persistent datasets; default: %(default)s"
)

CLASS = Option(
    "-c", "--class-name", metavar="CLASS", completes="class", help="experiment class, if the file has several"
)

ARGUMENTS = Option(
    "arguments",
    metavar="KEY=VALUE",
    nargs="*",
    completes="argument",
    help="arguments of the experiment, values as PYON, numbers also with a unit",
)

EXPERIMENT = (
    Option(
        "file",
        metavar="FILE",
        completes="experiment file",
        help="Python file with the experiment; 'kairos run' also takes a kernel compiled by 'kairos compile'",
    ),
    ARGUMENTS,
    DEVICE_DB,
    DATASET_DB,
    CLASS,
)
"""The experiment and its arguments."""

STRICT = Option("--strict", action="store_true", help="treat compiler warnings as errors")

VERBOSE = Option(
    "-v", "--verbose", action="count", default=0, help="log messages of level INFO, too; twice: also of level DEBUG"
)

TWIN = (
    Option(
        "--twin",
        metavar="URL",
        group="rehearsals",
        help="emulated device of the rehearsal, emulator://VARIANT; default: the core device, if it is emulated",
    ),
    Option(
        "--bench",
        metavar="FILE",
        group="rehearsals",
        help="wiring of the pins; default: bench.toml next to the device database, or the chips of its cards",
    ),
    Option("--no-bench", action="store_true", group="rehearsals", help="leave the pins unconnected"),
    Option(
        "--interlocks",
        metavar="FILE",
        group="rehearsals",
        help="rules for the waveform; default: interlocks.toml next to the device database, if there is one",
    ),
    Option(
        "--within",
        metavar="TIME",
        default="60s",
        group="rehearsals",
        help="stop a rehearsal that takes longer; default: %(default)s",
    ),
    Option(
        "--least-slack",
        metavar="TIME",
        default="0us",
        group="rehearsals",
        help="warn of lines with less slack; default: %(default)s",
    ),
    Option(
        "--network",
        metavar="TIME",
        default="20us",
        group="rehearsals",
        help="time for a message from this computer to reach the device; default: %(default)s",
    ),
)
"""How an experiment is rehearsed."""

KEY = Option(
    "--key", metavar="FILE", help="authentication key of the device (configuration key auth_key), if it has one"
)

JSON = Option("--json", action="store_true", help="print JSON, one object per line")

LAB = Option(
    "--lab",
    metavar="FOLDER",
    help="folder of the laboratory; default: the one that KAIROS_LAB names, this folder, or one around it",
)

RUN = Option("run", metavar="RUN", type=int, completes="run", help="number of the run")

CHANGED = Option(
    "arguments",
    metavar="KEY=VALUE",
    nargs="*",
    completes="argument",
    help="arguments to change, as for 'kairos submit'",
)

QUEUED = Option("run", metavar="RUN", type=int, completes="queued", help="number of the run")
"""A run that has not ended."""

FIRMWARE = Option("--firmware", metavar="ELF", help="firmware; default: runtime.elf of the built firmware")
GATEWARE = Option("--gateware", metavar="FILE", help="bitstream; default: none")


def log_level(verbose: int) -> int:
    """Return the level of `logging` for how often `VERBOSE` was given."""
    import logging  # imported late: few commands need it to read their command line

    return (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]


def between(lowest: float, highest: float | None = None, kind: type = int):
    """Return the type of a number's option: one of this `kind` in this range."""

    def number(text: str):
        try:
            value = kind(text)
            if value >= lowest and (highest is None or value <= highest):
                return value
        except ValueError:
            pass
        what = "a whole number" if kind is int else "a number"
        limits = f"of at least {lowest}" if highest is None else f"from {lowest} to {highest}"
        raise ArgumentTypeError(f"{text} is not {what} {limits}")

    return number


PORT = between(1, 65535)
"""Type of an option for a TCP port."""


def device(form: str, help: str, **settings) -> Option:
    """The address of a device, in the form accepted by the subcommand."""
    return Option("-D", "--device", metavar=form, help=help, **settings)


def output(help: str, **settings) -> Option:
    """Declare the option for the output file."""
    return Option("-o", "--output", metavar="FILE", help=help, **settings)


def quiet(help: str) -> Option:
    """Less output; `help` describes the rest."""
    return Option("-q", "--quiet", action="store_true", help=help)
