"""``kairos completion``: generates completion scripts for shells."""

import argparse

import shtab

from . import commands, parser

__all__ = ["script"]

_FILES = {"FILE", "DUMP", "ELF"}
"""Metavariables of options whose values are files."""


def script(args):
    """Print the script."""
    whole = parser(commands.names())
    _name_files(whole)
    print(shtab.complete(whole, shell=args.shell))


def _name_files(whole: argparse.ArgumentParser):
    """Mark the values that are files, also in nested subcommands."""
    for action in whole._actions:
        if isinstance(action, argparse._SubParsersAction):
            for nested in action.choices.values():
                _name_files(nested)
        elif action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
