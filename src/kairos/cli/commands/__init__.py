"""Declarations of the subcommands of ``kairos``, one module each.

A module has the name of its subcommand and defines ``COMMAND``, a
:class:`kairos.cli.command.Command`. ``kairos --help`` imports them all, so they only import
declarations; the implementations are elsewhere in :mod:`kairos.cli`.
"""

import os
from importlib import import_module

from ..command import Command

__all__ = ["load", "names"]


def names() -> list[str]:
    """Names of the subcommands."""
    # Not by `pkgutil`, which takes as long to import as all else that the command line needs.
    return sorted(name[:-3] for name in os.listdir(__path__[0]) if name.endswith(".py") and not name.startswith("_"))


def load(name: str) -> Command:
    """The declaration of a subcommand."""
    return import_module(f".{name}", __name__).COMMAND
