"""The ``kairos`` command.

Its subcommands are the modules of :mod:`kairos.cli.commands`. Only the one that is wanted is imported, because start-up
time is felt at every run.
"""

import argparse
import os
import sys

from .. import __version__, compat
from ..errors import KairosError
from . import commands

__all__ = ["main", "parser"]


def parser(names) -> argparse.ArgumentParser:
    """The parser of a command line that knows the subcommands `names`."""
    whole = argparse.ArgumentParser(prog="kairos", description="Real-time control of quantum-physics experiments.")
    whole.add_argument("--version", action="version", version=f"kairos {__version__}")
    parsers = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in names:
        commands.load(name).add_to(parsers, name)
    return whole


def _parse(argv: list[str]) -> argparse.Namespace:
    """The parsed command line; KEY=VALUE may also stand behind options, which argparse does not do by itself."""
    known = commands.names()
    wanted = argv[:1] if argv and argv[0] in known else [] if argv[:1] == ["--version"] else known
    chosen = parser(wanted)
    if len(wanted) == 1:
        argv = wanted + commands.load(wanted[0]).completed(argv[1:])
    args, rest = chosen.parse_known_args(argv)
    unknown = [text for text in rest if text.startswith("-") or not hasattr(args, "arguments")]
    if unknown:
        chosen.error(f"unrecognized arguments: {' '.join(unknown)}")
    if rest:
        args.arguments += rest
    return args


def _discard_output():
    """What is still buffered for standard output goes nowhere, so that the interpreter does not fail at its end."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)


def main(argv=None) -> int:
    """Run the command; the exit code is 0, 1 (it failed), 2 (bad command line) or 130 (interrupted)."""
    args = _parse(sys.argv[1:] if argv is None else argv)
    # Device databases may import ARTIQ's units, as experiments do.
    compat.install()
    try:
        return args.chosen.function()(args) or 0
    except KairosError as error:
        # Here, because most runs do without it.
        from .colour import coloured

        print(coloured(f"kairos: {error}"), file=sys.stderr)
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
