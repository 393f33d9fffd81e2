"""The ``kairos`` command.

Its subcommands are the modules of :mod:`kairos.cli.commands`. Only the selected one is imported, to
keep the start-up time of every run short.
"""

import argparse
import sys

from .. import __version__, compat
from ..errors import KairosError
from . import commands
from .printed import OutputFailed, printed
from .signals import code_of

__all__ = ["main", "parser"]


def parser(names) -> argparse.ArgumentParser:
    """Build the parser of a command line with the subcommands `names`."""
    whole = argparse.ArgumentParser(prog="kairos", description="Real-time control of quantum-physics experiments.")
    whole.add_argument("--version", action="version", version=f"kairos {__version__}")
    parsers = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in names:
        commands.load(name).add_to(parsers, name)
    return whole


def _parse(argv: list[str]) -> argparse.Namespace:
    """Parse the command line; KEY=VALUE may also follow options, which argparse does not support by
    itself."""
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


def main(argv=None) -> int:
    """Run the command; the exit code is 0, 1 (it failed), 2 (bad command line) or 130 (interrupted;
    a run that is terminated: 143)."""
    args = _parse(sys.argv[1:] if argv is None else argv)
    # Device databases may import ARTIQ's units, as experiments do.
    compat.install()
    try:
        with printed(goes_on=args.command == "run"):
            return args.chosen.function()(args) or 0
    except OutputFailed as failure:
        return _failed(failure) if failure.is_reported else 1
    except KairosError as error:
        return _failed(error)
    except KeyboardInterrupt as interruption:
        print("kairos: interrupted", file=sys.stderr)
        return code_of(interruption)


def _failed(error) -> int:
    # Imported late, because most runs do not need it.
    from .colour import coloured

    print(coloured(f"kairos: {error}"), file=sys.stderr)
    return 1
