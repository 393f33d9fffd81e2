"""The ``kairos`` command.

What a subcommand needs is imported when it runs, because start-up time is felt at every run.
"""

import argparse
import os
import sys

from .. import __version__
from ..errors import KairosError

__all__ = ["main"]

EMIT = ("ast", "types", "ir", "llvm", "asm", "elf")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kairos", description="Real-time control of quantum-physics experiments.")
    parser.add_argument("--version", action="version", version=f"kairos {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    experiment = argparse.ArgumentParser(add_help=False)
    experiment.add_argument("file", metavar="FILE", help="Python file with the experiment")
    experiment.add_argument("arguments", metavar="KEY=VALUE", nargs="*", help="arguments of the experiment, as PYON")
    experiment.add_argument("--device-db", metavar="FILE", default="device_db.py", help="default: %(default)s")
    experiment.add_argument("-c", "--class-name", metavar="CLASS", help="experiment class, if the file has several")

    run = commands.add_parser("run", parents=[experiment], help="run an experiment")
    run.add_argument("--vcd", metavar="FILE", help="write what the pins did as a VCD file")
    run.add_argument("--plot", metavar="FILE", help="draw what the pins did (.png, .pdf, .svg)")
    run.add_argument("--table", nargs="?", const="all", metavar="N", default="40", help="pulses to show, or 'all'")
    run.add_argument("--no-table", dest="table", action="store_const", const="0", help="show no pulses")
    run.add_argument("-o", "--hdf5", metavar="FILE", help="write the datasets to an HDF5 file")
    run.add_argument("-v", "--verbose", action="count", default=0)
    run.add_argument("-q", "--quiet", action="store_true", help="print only what the experiment prints")
    emulator = run.add_argument_group("emulated devices")
    emulator.add_argument("--no-skip", action="store_true", help="let idle time pass clock by clock")
    emulator.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="timing parameter")
    emulator.add_argument(
        "--forward",
        metavar="HOST:DEVICE",
        action="append",
        default=[],
        help="make a port of the device one of this host",
    )
    run.set_defaults(function=_run)

    compile_ = commands.add_parser("compile", parents=[experiment], help="compile run() and show a stage of it")
    compile_.add_argument("--emit", choices=EMIT, default="elf", help="default: %(default)s")
    compile_.add_argument("-o", "--output", metavar="FILE", help="default: standard output; for elf, FILE.elf")
    compile_.set_defaults(function=_compile)

    devices = commands.add_parser("devices", help="list the devices of a device database")
    devices.add_argument("--device-db", metavar="FILE", default="device_db.py", help="default: %(default)s")
    devices.set_defaults(function=_devices)

    from .boot import add_parsers
    from .device import add_parser

    add_parser(commands)
    add_parsers(commands)

    version = commands.add_parser("version", help="print the version")
    version.set_defaults(function=_version)
    return parser


def _run(args):
    from .run import run

    return run(args)


def _compile(args):
    from .compile import compile_experiment

    return compile_experiment(args)


def _devices(args):
    from ..devices import DeviceDB

    for name, entry in DeviceDB.load(args.device_db).entries.items():
        if isinstance(entry, str):
            print(f"{name:20} -> {entry}")
        else:
            arguments = ", ".join(f"{key}={value!r}" for key, value in entry.get("arguments", {}).items())
            print(f"{name:20} {entry.get('class') or entry.get('type')}({arguments})")
    return 0


def _version(args):
    print(f"kairos {__version__}")
    return 0


def _parse(parser, argv):
    """The parsed command line; KEY=VALUE may also stand behind options, which argparse does not do by itself."""
    args, rest = parser.parse_known_args(argv)
    unknown = [text for text in rest if text.startswith("-") or not hasattr(args, "arguments")]
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if rest:
        args.arguments += rest
    return args


def _discard_output():
    """What is still buffered for standard output goes nowhere, so that the interpreter does not fail at its end."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)


def main(argv=None) -> int:
    """Run the command; the exit code is 0, 1 (it failed), 2 (bad command line) or 130 (interrupted)."""
    parser = _parser()
    args = _parse(parser, argv)
    try:
        return args.function(args) or 0
    except KairosError as error:
        print(f"kairos: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("kairos: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone; there is nobody to tell.
        sys.stderr.close()
        return 1
    except OSError as error:
        # Files that the command line names have messages of their own: what is left is our own output.
        print(f"kairos: the output cannot be written: {error.strerror or error}", file=sys.stderr)
        _discard_output()
        return 1
