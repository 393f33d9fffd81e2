"""``kairos completion``: generates completion scripts for shells.

Commands, options and fixed choices are in the script. Names of experiments, arguments, datasets, devices and runs are
asked for when a key is pressed: a function of the script calls ``kairos`` with the line so far, see
:mod:`kairos.cli.candidates`.
"""

import argparse

import shtab

from . import commands, parser
from .candidates import SHELL_NAMED

__all__ = ["script"]

_FILES = {"FILE", "DUMP", "ELF"}
"""Metavariables of options whose values are files."""

_NAMES: dict = {
    "bash": "_kairos_names",
    "zsh": "_kairos_names",
    "fish": "(_kairos_names)",
    "tcsh": "",
    "powershell": "",
}
"""What completes a name, by shell; others than these three complete what is in the script only."""

_FUNCTIONS = {
    "bash": f"""\
_kairos_names() {{
  {SHELL_NAMED}=bash kairos "${{COMP_LINE:0:COMP_POINT}}" 2>/dev/null
}}
""",
    "zsh": f"""\
_kairos_names() {{
  local -a found
  found=("${{(@f)$({SHELL_NAMED}=zsh kairos "$LBUFFER" 2>/dev/null)}}")
  compadd -S '' -- ${{(M)found:#*[=/]}}
  compadd -- ${{found:#*[=/]}}
}}
""",
    "fish": f"""\
function _kairos_names
    {SHELL_NAMED}=fish kairos (commandline -cp | string collect) 2>/dev/null
end
""",
}
"""The function that asks for names."""

_BASH_END = """
# No space behind a folder, or where a value follows.
_kairos() {
  _shtab_kairos "$@"
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/] ]]; then
    compopt -o nospace 2>/dev/null
  fi
}

complete -o bashdefault -F _kairos kairos
"""


def script(args):
    """Print the script."""
    whole = parser(commands.names())
    _name_values(whole)
    print(shtab.complete(whole, shell=args.shell, preamble={args.shell: _FUNCTIONS.get(args.shell, "")}))
    if args.shell == "bash":
        print(_BASH_END)


def _name_values(whole: argparse.ArgumentParser):
    """Mark the values that are files or names, also in nested subcommands."""
    for action in whole._actions:
        if isinstance(action, argparse._SubParsersAction):
            for nested in action.choices.values():
                _name_values(nested)
        elif getattr(action, "completes", None):
            action.complete = _NAMES  # type: ignore[attr-defined]
        elif action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
