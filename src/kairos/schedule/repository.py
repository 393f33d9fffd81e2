"""Repository of experiments: a folder, or a Git repository at a revision, and the list of experiments in it."""

import asyncio
import logging
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError
from ..scratch import ScratchFolder
from .worker import Worker, WorkerError

__all__ = ["ExperimentDB", "FilesystemBackend", "GitBackend", "listed"]

logger = logging.getLogger(__name__)


class FilesystemBackend:
    """The directory `root` in its current state, as a single revision called N/A."""

    def __init__(self, root):
        self.root = Path(root).resolve()

    def get_head_rev(self) -> str:
        """Return the current revision."""
        return "N/A"

    def request_rev(self, rev) -> tuple[str, str | None]:
        """Return the directory of a revision, and its commit message, if any."""
        return str(self.root), None

    def release_rev(self, rev):
        """Release a revision."""


@dataclass
class _Checkout:
    folder: ScratchFolder
    message: str
    users: int = 0


class GitBackend:
    """The Git repository `root`, with one directory per revision in use; UsageError if it is not a
    repository."""

    def __init__(self, root):
        self.root = Path(root).resolve()
        self._folders: dict[str, _Checkout] = {}
        self.get_head_rev()

    def _git(self, *words) -> bytes:
        try:
            return subprocess.run(["git", "-C", self.root, *words], capture_output=True, check=True).stdout
        except OSError as error:
            raise UsageError(f"git cannot be started: {error.strerror}") from None
        except subprocess.CalledProcessError as error:
            raise UsageError(f"{self.root}: {error.stderr.decode().strip()}") from None

    def get_head_rev(self) -> str:
        """Return the current commit."""
        return self._git("rev-parse", "HEAD").decode().strip()

    def request_rev(self, rev) -> tuple[str, str]:
        """Return the directory of a revision, kept until each request has been released, and its
        commit message."""
        if rev not in self._folders:
            message = self._git("log", "-1", "--format=%B", rev, "--").decode().strip()
            archive = self._git("archive", "--format=tar", rev)
            folder = ScratchFolder("kairos-repository-")
            subprocess.run(["tar", "-x", "-C", folder.path], input=archive, check=True)
            self._folders[rev] = _Checkout(folder, message)
        checkout = self._folders[rev]
        checkout.users += 1
        return str(checkout.folder.path), checkout.message

    def release_rev(self, rev):
        """Release one request of a revision; its directory is removed with the last one."""
        checkout = self._folders[rev]
        checkout.users -= 1
        if checkout.users == 0:
            del self._folders[rev]
            checkout.folder.close()


class ExperimentDB:
    """The experiments of a repository, listed in `explist` after `scan_repository`.

    By name (see `listed`), an entry has ``file``, ``class_name``,
    ``arginfo``, ``argument_ui`` and ``scheduler_defaults``. `worker_handlers`: services available
    to experiments while they are built, see `Worker`. Only files below `experiment_subdir` are
    scanned.
    """

    def __init__(self, repo_backend, worker_handlers=None, experiment_subdir=""):
        self._backend, self._handlers, self._below = repo_backend, worker_handlers, experiment_subdir
        self.cur_rev = repo_backend.get_head_rev()
        self._held: str | None = None
        """The revision whose directory is kept because it was scanned last."""
        self.explist: dict[str, dict] = {}

    def request_rev(self, rev):
        """Return the directory of a revision, by default the one scanned last, and its commit
        message."""
        return self._backend.request_rev(rev or self.cur_rev)

    def release_rev(self, rev):
        """Release a revision that is no longer needed."""
        self._backend.release_rev(rev or self.cur_rev)

    async def scan_repository(self, new_cur_rev=None):
        """Scan every file of a revision, by default the current one. Files that cannot be built are
        logged."""
        revision = new_cur_rev or self._backend.get_head_rev()
        root, _ = self._backend.request_rev(revision)
        found = [(file, await self._seen(Path(root, file))) for file in self._files(Path(root))]
        self.explist, self.cur_rev = listed(found, self._below), revision
        if self._held is not None:
            self._backend.release_rev(self._held)
        self._held = revision

    def scan_repository_async(self, new_cur_rev=None):
        """Scan in the background; returns the task."""
        return asyncio.get_running_loop().create_task(self.scan_repository(new_cur_rev))

    def _files(self, root: Path) -> list[Path]:
        files = (path.relative_to(root) for path in Path(root, self._below).rglob("*.py"))
        return sorted(file for file in files if not any(part.startswith(".") for part in file.parts))

    async def _seen(self, file) -> dict:
        try:
            return await self._examined(file)
        except WorkerError as error:
            logger.warning("%s is passed over: %s", file, error)
            return {}

    async def _examined(self, file) -> dict:
        worker = Worker(self._handlers)
        try:
            return await worker.examine("examine", file)
        finally:
            await worker.close()

    async def examine(self, filename, use_repository=True, revision=None) -> dict:
        """Return the requirements of the experiments in a file, by class; from the repository
        unless disabled."""
        if not use_repository:
            return await self._examined(filename)
        root, _ = self.request_rev(revision)
        try:
            return await self._examined(Path(root, filename))
        finally:
            self.release_rev(revision)

    def root(self) -> str:
        """Return the directory of the repository."""
        return str(self._backend.root)

    def list_directory(self, directory) -> list[str]:
        """List a directory, hidden entries included; directories end with a slash. For an empty
        name, the paths in the root directory."""
        entries = [(path, path.name if directory else str(path)) for path in Path(directory or "/").iterdir()]
        return [name + "/" * path.is_dir() for path, name in entries]


def listed(examined: Iterable[tuple[Path, dict]], below="") -> dict[str, dict]:
    """Return the list of experiments, by full name, from what is known about each file: its path,
    and by class what `examined` gives.

    The name is the folder, relative to `below`, and the first line of the docstring, or the class;
    experiments of a folder with equal names are numbered.
    """
    found: dict[str, dict] = {}
    for file, classes in examined:
        folder = file.parent.relative_to(below).as_posix()
        for class_name, information in classes.items():
            name = information["name"].replace("/", "_")
            name = name if folder == "." else f"{folder}/{name}"
            candidates = (f"{name}{number or ''}" for number in range(len(found) + 1))
            free = next(candidate for candidate in candidates if candidate not in found)
            rest = {key: value for key, value in information.items() if key != "name"}
            found[free] = {"file": file.as_posix(), "class_name": class_name, **rest}
    return found
