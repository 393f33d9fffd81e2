"""The ``kairos`` command.

Its subcommands are the modules of :mod:`kairos.cli.commands`. Only the selected one is imported, to
keep the start-up time of every run short.
"""

from .signals import code_of, end_early, end_orderly  # isort: split

import argparse
import atexit
import gc
import os
import sys

from .. import __version__
from ..errors import CommandLineError, KairosError
from . import commands
from .candidates import SHELL_NAMED
from .candidates import main as complete
from .command import Parser, option_meant
from .options import EXPERIMENT
from .printed import OutputFailed, print_notice, printed
from .replaced import check_outputs

__all__ = ["main", "parser"]


def parser(names) -> argparse.ArgumentParser:
    """Build the parser of a command line with the subcommands `names`."""
    whole = Parser(prog="kairos", description="Real-time control of quantum-physics experiments.")
    whole.add_argument("--version", action="version", version=f"kairos {__version__}")
    parsers = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in names:
        commands.load(name).add_to(parsers, name)
    return whole


def _parse(argv: list[str]) -> argparse.Namespace:
    """Parse the command line; the words of a list, as KEY=VALUE, may also follow options, which argparse does not
    support by itself."""
    known = commands.names()
    if argv[:1] == ["help"]:
        argv = [*argv[1:], "--help"]
    wanted = argv[:1] if argv and argv[0] in known else [] if argv[:1] == ["--version"] else known
    chosen = parser(wanted)
    if len(wanted) == 1:
        argv = wanted + commands.load(wanted[0]).completed(argv[1:])
        _show_arguments(chosen, argv)
    if argv[:1] and argv[0].startswith("-") and argv[0] not in chosen.options():
        _refuse(chosen, argv[:1])
    args, rest = chosen.parse_known_args(argv)
    taking = next((option for option in args.chosen.options if option.takes_rest), None)
    if unknown := [text for text in rest if text.startswith("-") or taking is None]:
        _refuse(chosen, unknown)
    if rest:
        try:
            more = [taking.settings.get("type", str)(text) for text in rest]
        except (ValueError, argparse.ArgumentTypeError) as error:
            chosen.error(f"argument {taking.settings.get('metavar', taking.names[0])}: {error}")
        setattr(args, taking.names[0], [*getattr(args, taking.names[0]), *more])
    return args


def _refuse(chosen, unknown: list[str]):
    """End the process because of words that mean nothing."""
    question = option_meant(unknown[0].partition("=")[0], chosen.options())
    chosen.error(f"unrecognized arguments: {' '.join(unknown)}{question}")


def _show_arguments(chosen, argv: list[str]):
    """Print the arguments of an experiment, if the command line requests the help of a command with
    one; then the process ends."""
    asked = {"-h", "--help"}
    if not asked & set(argv) or not any(option in EXPERIMENT for option in commands.load(argv[0]).options):
        return
    words = [word for word in argv if word not in asked]
    # Without a file there is only the help of the command.
    if not any(word.endswith((".py", ".elf", ".tar")) for word in words):
        return
    args, _ = chosen.parse_known_args(words)
    _install_names()
    try:
        # Imported late: it loads what experiments need.
        from .arguments import described

        print(described(args.file, args.class_name, getattr(args, "device_db", None)))
    except KairosError as error:
        raise SystemExit(_failed(error)) from None
    print(f"\noptions: kairos {argv[0]} --help")
    raise SystemExit(0)


def _install_names():
    """Have imports of ARTIQ's names work: device databases may import its units, as experiments do."""
    # Imported late: a completion needs none of it.
    from .. import compat

    compat.install()


def _start_quickly():
    """Leave out what costs a fifth of a short run's processor time and serves nothing."""
    # Imports and syntax trees make many objects and hardly any cycle: they were looked through a hundred times, and
    # once more at the end, when all memory is given back anyway.
    gc.set_threshold(20_000)
    atexit.register(gc.freeze)
    # The threads of NumPy's linear algebra look out for work in a loop, from its import on, before they sleep: by
    # default for 2^26 cycles, now for 2^20, that is less than a millisecond.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")


def main(argv=None) -> int:
    """Run the command; the exit code is 0, 1 (it failed), 2 (wrong command line) or 130
    (interrupted; a run that is terminated: 143)."""
    args = None
    words = sys.argv[1:] if argv is None else argv
    if argv is None:
        _start_quickly()
    if SHELL_NAMED in os.environ:
        return complete(" ".join(words), os.environ[SHELL_NAMED])
    try:
        if words[:1] == ["run"]:
            # From here on, whatever arrives, the results of the run are written or named.
            end_orderly()
            end_early()
        args = _parse(words)
        check_outputs(args)
        _install_names()
        with printed(goes_on=args.command == "run"):
            return args.chosen.function()(args) or 0
    except OutputFailed as failure:
        return _failed(failure) if failure.is_reported else 1
    except KairosError as error:
        return _failed(error)
    except KeyboardInterrupt as interruption:
        print_notice("kairos: interrupted")
        if words[:1] == ["run"]:
            _report_missing(args, words)
        return code_of(interruption)


def _report_missing(args, words: list[str]):
    """Name the outputs of a run that was interrupted before it began, maybe before its command line was read."""
    # Imported late: few runs are.
    from .outputs import Outputs

    if args is None:
        args, _ = parser(["run"]).parse_known_args(words)
    Outputs(args).report_missing("the run had not begun")


def _failed(error) -> int:
    print_notice(f"kairos: {error}")
    return 2 if isinstance(error, CommandLineError) else 1
