"""Stub packages ``artiq-stubs`` and ``sipyco-stubs``: the names of `kairos.compat.names` for editors and
type checkers, which do not run the import hook.

``python -m kairos.compat.stubs FOLDER`` writes them; a test compares them with the table.
"""

import pkgutil
import sys
from pathlib import Path

from .. import coredevice
from . import install
from .names import ABSENT, GATHERED, SAME

__all__ = ["stubs"]

HEAD = '"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""\n'


def _modules() -> dict[str, list[str]]:
    """Return the lines of each module's stub."""
    drivers = {
        f"artiq.coredevice.{module.name}": f"kairos.coredevice.{module.name}"
        for module in pkgutil.iter_modules(coredevice.__path__)
        if not module.ispkg
    }
    lines = {name: [f"from {ours} import *", *_private(ours)] for name, ours in (drivers | SAME).items()}
    for name, places in GATHERED.items():
        lines[name] = [line for ours, names in places.items() for line in _imports(ours, names)]
    for name, absent in ABSENT.items():
        lines[name] = [f"def {entry}(*args, **kwargs): ..." for names in absent for entry in names.split()]
    for name in list(lines):
        while name := name.rpartition(".")[0]:
            lines.setdefault(name, [])
    lines["artiq"].append("__version__: str")
    return lines


def _private(ours: str) -> list[str]:
    """Import the private names that laboratories use, which a star leaves out."""
    return {
        "kairos.coredevice.core": ["from kairos.coredevice.core import _render_diagnostic as _render_diagnostic"]
    }.get(ours, [])


def _imports(ours: str, names: str) -> list[str]:
    if names == "*":
        return [f"from {ours} import *"]
    pairs = (entry.partition("=") for entry in names.split())
    return [f"from {ours} import {own} as {theirs or own}" for own, _, theirs in pairs]


def stubs() -> dict[str, str]:
    """Return the text of each file of the packages, by path."""
    modules = _modules()
    packages = {name.rpartition(".")[0] for name in modules} - {""}
    files = {}
    for name, lines in modules.items():
        top, *rest = name.split(".")
        inside = [*rest, "__init__"] if name in packages or not rest else rest
        files["/".join([f"{top}-stubs", *inside]) + ".pyi"] = HEAD + "".join(f"{line}\n" for line in lines)
    return files


def main(folder: str):
    """Write the packages to a folder."""
    install()
    for name, text in stubs().items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1])
