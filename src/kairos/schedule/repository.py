"""Repository of experiments: a folder, or a Git repository at a revision, and the list of experiments in it."""

import asyncio
import logging
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError
from .worker import Worker, WorkerError

__all__ = ["ExperimentDB", "FilesystemBackend", "GitBackend"]

logger = logging.getLogger(__name__)


class FilesystemBackend:
    """The folder `root`, as it is: it has one revision, which is called N/A."""

    def __init__(self, root):
        self.root = Path(root).resolve()

    def get_head_rev(self) -> str:
        """The present revision."""
        return "N/A"

    def request_rev(self, rev) -> tuple[str, str | None]:
        """The folder that has a revision, and the message of its commit, if there is one."""
        return str(self.root), None

    def release_rev(self, rev):
        """Release a revision."""


@dataclass
class _Checkout:
    folder: tempfile.TemporaryDirectory
    message: str
    users: int = 0


class GitBackend:
    """The Git repository `root`, each revision in a folder of its own while it is needed; UsageError if it is none."""

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
        """The present commit."""
        return self._git("rev-parse", "HEAD").decode().strip()

    def request_rev(self, rev) -> tuple[str, str]:
        """The folder that has a revision, until it is released as often as it was requested; its commit's message."""
        if rev not in self._folders:
            message = self._git("log", "-1", "--format=%B", rev, "--").decode().strip()
            archive = self._git("archive", "--format=tar", rev)
            folder = tempfile.TemporaryDirectory(prefix="kairos-repository-")
            subprocess.run(["tar", "-x", "-C", folder.name], input=archive, check=True)
            self._folders[rev] = _Checkout(folder, message)
        checkout = self._folders[rev]
        checkout.users += 1
        return checkout.folder.name, checkout.message

    def release_rev(self, rev):
        """Once fewer need a revision; without users its folder goes."""
        checkout = self._folders[rev]
        checkout.users -= 1
        if checkout.users == 0:
            del self._folders[rev]
            checkout.folder.cleanup()


class ExperimentDB:
    """The experiments of a repository, of which `explist` is the list after `scan_repository`.

    By name (the first line of the docstring, or the class), an entry has ``file``, ``class_name``,
    ``arginfo``, ``argument_ui`` and ``scheduler_defaults``. `worker_handlers`: what experiments may
    ask for while they are built, see `Worker`. Only what is below `experiment_subdir` is looked at.
    """

    def __init__(self, repo_backend, worker_handlers=None, experiment_subdir=""):
        self._backend, self._handlers, self._below = repo_backend, worker_handlers, experiment_subdir
        self.cur_rev = repo_backend.get_head_rev()
        self._held: str | None = None
        """The revision whose folder is kept because it was scanned last."""
        self.explist: dict[str, dict] = {}

    def request_rev(self, rev):
        """The folder of a revision, None for the one that was scanned last, and its commit's message."""
        return self._backend.request_rev(rev or self.cur_rev)

    def release_rev(self, rev):
        """It is not needed any more."""
        self._backend.release_rev(rev or self.cur_rev)

    async def scan_repository(self, new_cur_rev=None):
        """Look at every file of a revision, by default the present one. Files that cannot be built are logged."""
        revision = new_cur_rev or self._backend.get_head_rev()
        root, _ = self._backend.request_rev(revision)
        found: dict[str, dict] = {}
        for file in self._files(Path(root)):
            for class_name, said in (await self._seen(Path(root, file))).items():
                name = _free(said.pop("name").replace("/", "_"), found)
                found[name] = {"file": str(file), "class_name": class_name, **said}
        self.explist, self.cur_rev = found, revision
        if self._held is not None:
            self._backend.release_rev(self._held)
        self._held = revision

    def scan_repository_async(self, new_cur_rev=None):
        """The same in the background; the task."""
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
        """What the experiments of a file ask for, by class; of the repository, unless that is not wanted."""
        if not use_repository:
            return await self._examined(filename)
        root, _ = self.request_rev(revision)
        try:
            return await self._examined(Path(root, filename))
        finally:
            self.release_rev(revision)

    def root(self) -> str:
        """The folder of the repository."""
        return str(self._backend.root)

    def list_directory(self, directory) -> list[str]:
        """What is in a directory that is not hidden; folders end with a slash."""
        entries = sorted(Path(directory).iterdir())
        return [path.name + "/" * path.is_dir() for path in entries if not path.name.startswith(".")]


def _free(name: str, taken) -> str:
    """A name that no other experiment has."""
    numbered = (name if number == 1 else f"{name}{number}" for number in range(1, len(taken) + 2))
    return next(candidate for candidate in numbered if candidate not in taken)
