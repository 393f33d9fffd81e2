"""The process that examines a file of the repository: which experiments it has, and which files it imports.

It is forked for every file, so that modules imported by one are unknown to the next.
"""

import sys
from pathlib import Path

from ..cli.experiments import import_file
from ..errors import KairosError
from ..experiment.datasets import DatasetDB
from ..experiment.environment import is_base
from ..schedule.services import requirements
from .defaults import MISSING, fingerprint
from .link import Link
from .output import redirect

__all__ = ["Datasets", "main"]


class Datasets(DatasetDB):
    """The laboratory's datasets, which an experiment may read while it is built."""

    def __init__(self, link: Link):
        super().__init__()
        self._link = link
        self.read: dict[str, str] = {}
        """Fingerprints of the values that were read, by their names, see `defaults`."""

    def get(self, key):
        try:
            value = self._link.ask("datasets.get", key)
        except KeyError as missing:
            self.read[key] = MISSING
            raise missing
        self.read[key] = fingerprint(lambda: value)
        return value

    def get_metadata(self, key):
        return self._link.ask("datasets.get_metadata", key)


def main(folder: str, path: str, begin: dict):
    """Examine the file ``begin["file"]`` of the repository in ``begin["root"]``, and report to the
    laboratory with the socket `path`: classes, imported files, datasets that were read."""
    redirect(Path(folder, "output"))
    link = Link(path, begin["rid"], {}, outlive=False)
    root, file = begin["root"], Path(begin["file"])
    before, datasets = set(sys.modules), Datasets(link)

    def failed(problem: str):
        link.ended("examine", "failed", {"problem": problem, "read": datasets.read})

    if root is not None:
        sys.path.insert(0, root)
    try:
        module = import_file(file)
        classes = requirements(module, datasets)
    except KairosError as error:
        failed(str(error))
    except SystemExit as error:
        failed(f"the file ends the process with sys.exit({error.code!r})")
    else:
        bases = [name for name in classes if is_base(vars(module)[name], module)]
        found = {"classes": classes, "bases": bases, "imports": _imports(root, before), "read": datasets.read}
        link.ended("examine", "completed", found)
    link.command()  # that this was received


def _imports(root: str | None, before: set[str]) -> list[str]:
    """Return the files of the repository that were imported, relative to its root. `before`: modules that were there
    already, which are many and none of its files."""
    if root is None:
        return []
    folder = Path(root).resolve()
    # Not by getattr: a module may do anything then.
    files = (vars(module).get("__file__") for name, module in list(sys.modules.items()) if name not in before)
    paths = {Path(file).resolve() for file in files if isinstance(file, str)}
    return sorted(path.relative_to(folder).as_posix() for path in paths if path.is_relative_to(folder))
