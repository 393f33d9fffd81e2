"""The process that examines a file of the repository: which experiments it has, and which files it imports.

It is forked for every file, so that modules imported by one are unknown to the next.
"""

import sys
from pathlib import Path

from ..errors import KairosError
from ..experiment.datasets import DatasetDB
from ..schedule.services import examined
from .worker import Link, redirect

__all__ = ["Datasets", "main"]


class Datasets(DatasetDB):
    """The laboratory's datasets, which an experiment may read while it is built."""

    def __init__(self, link: Link):
        super().__init__()
        self._link = link

    def get(self, key):
        return self._link.ask("datasets.get", key)

    def get_metadata(self, key):
        return self._link.ask("datasets.get_metadata", key)


def main(folder: str, path: str, begin: dict):
    """Examine the file ``begin["file"]`` of the repository in ``begin["root"]``, and report to the
    laboratory with the socket `path`: classes, imported files."""
    redirect(Path(folder, "output"))
    link = Link(path, begin["rid"], {}, outlive=False)
    root, file = begin["root"], Path(begin["file"])
    before = set(sys.modules)
    if root is not None:
        sys.path.insert(0, root)
    try:
        classes = examined(file, Datasets(link))
    except KairosError as error:
        link.ended("examine", "failed", str(error))
    except SystemExit as error:
        link.ended("examine", "failed", f"the file ends the process with sys.exit({error.code!r})")
    else:
        link.ended("examine", "completed", {"classes": classes, "imports": _imports(root, before)})
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
