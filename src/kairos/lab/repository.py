"""The repository of experiments: its revisions, and the list of experiments in it.

A file is examined when its content, that of a file of the repository that it imports, or a parameter that an experiment
has read while it was built has changed. One that fails or is slow keeps its former entry, and the list says why.
"""

import asyncio
import hashlib
import logging
import os
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from .. import files, pyon
from ..controllers.publishing import Publication
from ..errors import KairosError, UsageError
from ..schedule import listed
from .defaults import MISSING
from .excerpts import NOW, OWN, STORED
from .exports import export, git
from .printed import last_line
from .processes import Ended, Processes
from .settings import Settings

__all__ = ["FolderSource", "GitSource", "Repository", "source_of"]

logger = logging.getLogger(__name__)

EXAMINE = 20.0
"""Seconds for a file to be examined."""
NO_REVISION = "N/A"
NEW: dict = {"hash": "", "classes": {}}
"""Entry of a file that was not examined yet."""
RUNS = "runs"
"""Name of the folder with those of the runs."""


class _Unusable(UsageError):
    """Why a file cannot be examined; `read`: what it had read until then, see `defaults`."""

    def __init__(self, problem: str, read: dict[str, str]):
        super().__init__(problem)
        self.read = read


class FolderSource:
    """Experiments in a folder, as they are."""

    def __init__(self, root: Path):
        self.root = root.resolve()

    async def current(self) -> str:
        """Return the current revision."""
        return NO_REVISION

    async def resolved(self, revision: str | None) -> tuple[str, str | None]:
        """Return the full name of a revision, and its message; KeyError."""
        return NO_REVISION, None

    async def tree(self, revision: str) -> Path:
        """Return the folder with the files of a revision."""
        return self.root

    @asynccontextmanager
    async def using(self, revision: str) -> AsyncIterator[Path]:
        """Context in which the files of a revision are not deleted; yields their folder."""
        yield self.root

    def keep(self, revisions: set[str]):
        """Delete the files of other revisions that nothing uses."""

    def name(self, file: Path) -> str | None:
        """Return the name of a file of any revision, relative to the repository; None if it is none."""
        return _below(file, self.root)

    async def text(self, revision: str, name: str) -> tuple[str, str]:
        """Return a file of a revision, and what it is: that revision, or `NOW`. UsageError if it is not there."""
        try:
            return await asyncio.to_thread((self.root / name).read_text, errors="replace"), NOW
        except OSError as error:
            raise UsageError(f"{name} cannot be read: {error.strerror}") from None


class GitSource:
    """Experiments in a Git repository, bare or not, or in a folder of one. A commit is written to `exports` once.
    `revision`: what stands for the current commit."""

    def __init__(self, root: Path, exports: Path, revision: str = "HEAD"):
        self.root, self._exports, self._revision = root.resolve(), exports, revision
        self._exporting = asyncio.Lock()
        self._used: Counter[str] = Counter()

    async def _git(self, *words) -> bytes:
        return await asyncio.to_thread(git, self.root, *words)

    async def current(self) -> str:
        """Return the current commit; UsageError if there is none."""
        await self._git("rev-parse", "--git-dir")
        wanted = f"{self._revision}^{{commit}}"
        try:
            found = await self._git("rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
            return found.decode().strip()
        except UsageError:
            if self._revision != "HEAD":
                raise UsageError(
                    f"the repository {self.root} has no revision {self._revision}, which lab.toml names"
                ) from None
            raise UsageError(f"the repository {self.root} has no commit yet: 'git commit' makes one") from None

    async def resolved(self, revision: str | None) -> tuple[str, str | None]:
        """Return the full name of a commit, and its message; KeyError."""
        try:
            name = await self._git("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        except UsageError:
            raise KeyError(f"{revision} is no commit of {self.root}") from None
        commit = name.decode().strip()
        return commit, (await self._git("log", "-1", "--format=%B", commit, "--")).decode(errors="replace").strip()

    async def tree(self, revision: str) -> Path:
        """Return the folder with the files of a commit."""
        async with self.using(revision) as folder:
            return folder

    @asynccontextmanager
    async def using(self, revision: str) -> AsyncIterator[Path]:
        """Context in which the files of a commit are not deleted; yields their folder."""
        folder = self._exports / revision
        self._used[revision] += 1
        try:
            async with self._exporting:
                if not folder.exists():
                    await self._export(revision, folder)
            yield folder
        finally:
            self._used[revision] -= 1

    def name(self, file: Path) -> str | None:
        """Return the name of a file of any commit, relative to the repository; None if it is none."""
        inside = _below(file, self._exports)
        return inside.partition("/")[2] if inside else _below(file, self.root)

    async def text(self, revision: str, name: str) -> tuple[str, str]:
        """Return a file of a commit, and that commit; UsageError if it is not there."""
        # Relative to this folder, which may be one of a larger repository.
        text = await self._git("show", "--end-of-options", f"{revision}:./{name}")
        return text.decode(errors="replace"), revision

    async def _export(self, revision: str, folder: Path):
        new = folder.with_name(f".{revision}.{os.getpid()}")
        try:
            await asyncio.to_thread(export, self.root, revision, new)
            new.rename(folder)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise

    def keep(self, revisions: set[str]):
        """Delete the files of other commits that nothing uses."""
        used = {*revisions, *(name for name, count in self._used.items() if count)}
        for folder in self._exports.glob("*"):
            if (folder.name.split(".")[1] if folder.name.startswith(".") else folder.name) not in used:
                shutil.rmtree(folder, ignore_errors=True)


def source_of(settings: Settings, state: Path) -> FolderSource | GitSource:
    """Return the source of a laboratory with these settings; UsageError."""
    root = settings.path(settings.repository)
    if settings.git:
        return GitSource(root, state / "exports", settings.revision)
    files.folder(root)
    return FolderSource(root)


class Repository:
    """The experiments of a source, listed in `experiments`. `below`: only files below this folder
    are scanned. `cache`: file with what earlier scans have found. `folder`: for the folders of
    examinations. `master`: the laboratory's folder, to which other files are relative."""

    def __init__(self, source, processes: Processes, folder: Path, cache: Path, master: Path, below: str = ""):
        self._source, self._processes, self._folder, self._below = source, processes, folder, below
        self._cache, self._master = cache, master
        self.experiments: dict[str, dict] = {}
        self._by_file: dict[str, list[dict]] = {}
        self.state = {"scanning": False, "cur_rev": NO_REVISION}
        self.published = Publication(lambda: self.experiments)
        self.published_state = Publication(lambda: self.state)
        self._known: dict[str, dict] = _loaded(cache)
        """By file: `hash`, `classes`, `bases` among them, `imports` (file -> hash), and `read` (dataset ->
        fingerprint); or if it could not be examined, `problem`, `read`, and a hash of all files, `among`."""
        self.read: set[str] = set()
        """The names of the datasets that experiments have read while they were built."""
        self.fingerprint: Callable[[str], str] = lambda key: MISSING
        """Returns the fingerprint of a dataset, see `defaults`."""
        self.scanned: Callable[[Path], None] = lambda root: None
        """Called with the folder of a revision that was scanned."""
        self._number = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._places = asyncio.Semaphore(max(2, os.cpu_count() or 2))

    @property
    def root(self) -> Path:
        """The folder of the repository."""
        return self._source.root

    def problems(self) -> dict[str, str]:
        """Return why files could not be examined, by file."""
        return {file: entry["problem"] for file, entry in self._known.items() if entry.get("problem")}

    def source_hash(self, file: str) -> str:
        """Return a hash of a file that was scanned, and of the files that it imports."""
        known = self._known[file]
        return _digest({file: known["hash"], **known.get("imports", {})})

    def complete(self) -> dict[str, dict]:
        """Return the experiments that can be run: those that are there for others only are left out."""
        return {
            name: each
            for name, each in self.experiments.items()
            if each["class_name"] not in self._known.get(each["file"], {}).get("bases", ())
        }

    # Submissions

    def entries(self, expid: dict) -> list[dict]:
        """Return what is listed of the experiments that a submission stands for: several if it names no class."""
        if "repo_rev" not in expid:
            return []
        name = expid.get("class_name")
        return [each for each in self._by_file.get(expid.get("file"), ()) if name in (None, each["class_name"])]

    def entry(self, expid: dict) -> dict:
        """Return what is listed of the experiment of a submission; empty if it is not in the repository."""
        return next(iter(self.entries(expid)), {})

    def arguments(self, expid: dict) -> dict:
        """Return the arguments of the experiment of a submission, as in the list; empty if they are not known."""
        return self.entry(expid).get("arginfo") or {}

    async def resolved(self, expid: dict) -> tuple[dict, str | None]:
        """Return a submission with the full name of its commit, or the absolute path of its file,
        and the message of the commit; KeyError for an unknown one."""
        if "repo_rev" in expid:
            revision, message = await self._resolved(expid["repo_rev"])
            return {**expid, "repo_rev": revision}, message
        if "file" in expid:
            return {**expid, "file": str((self._master / expid["file"]).resolve())}, None
        return dict(expid), None

    async def _resolved(self, revision: str | None) -> tuple[str, str | None]:
        if revision:
            return await self._source.resolved(revision)
        try:
            return await self._source.resolved(self.state["cur_rev"])
        except KeyError as error:
            raise KeyError(f"{error.args[0]} any more: 'kairos experiments scan' finds the present one") from None

    async def source_of(self, file: str, revision: str, known: dict[str, str]) -> tuple[str, str | None, str]:
        """Return the name of a file of a run, relative to the repository if it is there, its text, and what the text
        is, see `excerpts`. `known`: texts that are stored with the run, by their names."""
        path = Path(file)
        inside = self._source.name(path)
        # What was submitted as text is in the folder of the run, which is gone.
        own = path.name == OWN and path.parent.parent.name == RUNS
        name = OWN if own else inside or file
        for stored in (name, file.lstrip("/")):
            if stored in known:
                return name, known[stored], STORED
        if inside is None or own:
            return name, None, ""
        try:
            return name, *await self._source.text(revision or self.state["cur_rev"], inside)
        except UsageError:
            return name, None, ""

    async def directory(self, expid: dict) -> str | None:
        """Return the folder to which the file of a submission is relative; None if to none."""
        async with self.using(expid) as folder:
            return folder

    @asynccontextmanager
    async def using(self, expid: dict) -> AsyncIterator[str | None]:
        """As `directory`; its files are not deleted in this context."""
        if "repo_rev" not in expid:
            yield None
            return
        async with self._source.using(expid["repo_rev"]) as folder:
            yield str(folder)

    def keep(self, expids):
        """Delete the files of commits that neither the list nor one of the submissions needs."""
        self._source.keep({self.state["cur_rev"], *(expid.get("repo_rev") for expid in expids)})

    # Scanning

    async def scan(self, revision: str | None = None):
        """Scan a revision, by default the current one. Returns at once if a scan is in progress."""
        if self.state["scanning"]:
            return
        self._set_state(scanning=True)
        self._idle.clear()
        try:
            name = await (self._source.current() if revision is None else self._name(revision))
            async with self._source.using(name) as root:
                await self._scan(root)
                self._set_state(cur_rev=name)
                self.scanned(root)
        finally:
            self._set_state(scanning=False)
            self._idle.set()

    async def renew(self):
        """Examine the files again that have read datasets which have changed since."""
        while self.state["scanning"]:
            await self._idle.wait()
        stale = [name for name, entry in self._known.items() if not self._is_current(entry)]
        if not stale:
            return
        self._set_state(scanning=True)
        self._idle.clear()
        try:
            async with self._source.using(self.state["cur_rev"]) as root:
                hashes = await asyncio.to_thread(_hashes, root)
                await self._examine_files(root, [name for name in stale if name in hashes], hashes)
        finally:
            self._set_state(scanning=False)
            self._idle.set()

    def _is_current(self, entry: dict) -> bool:
        """Return whether what a file has read is as it was then."""
        return all(self.fingerprint(key) == value for key, value in entry.get("read", {}).items())

    async def scan_next(self, revision: str | None = None):
        """Scan a revision, after the scan that is in progress, if there is one."""
        while self.state["scanning"]:
            await self._idle.wait()
        await self.scan(revision)

    async def _name(self, revision: str) -> str:
        return (await self._source.resolved(revision))[0]

    def _set_state(self, **values):
        for key, value in values.items():
            if self.state[key] != value:
                self.state[key] = value
                self.published_state.changed([{"action": "setitem", "path": [], "key": key, "value": value}])

    async def _scan(self, root: Path):
        hashes = await asyncio.to_thread(_hashes, root)
        below = Path(self._below).as_posix()
        names = sorted(name for name in hashes if below == "." or Path(name).is_relative_to(below))
        changed = [name for name in names if not self._is_known(name, hashes)]
        self._known = {name: self._known.get(name, NEW) for name in names}
        await self._examine_files(root, changed, hashes)

    async def _examine_files(self, root: Path, names: list[str], hashes: dict):
        await asyncio.gather(*(self._examine_file(root, name, hashes) for name in names))
        if names:
            await asyncio.to_thread(_save, self._cache, self._known)
        self.read = {key for entry in self._known.values() for key in entry.get("read", ())}
        found = listed([(Path(name), entry["classes"]) for name, entry in self._known.items()], self._below)
        self._publish(found)

    def _is_known(self, name: str, hashes: dict) -> bool:
        entry = self._known.get(name)
        if entry is None or entry["hash"] != hashes[name]:
            return False
        if "problem" in entry:
            return entry["among"] == _digest(hashes) and self._is_current(entry)
        known = "bases" in entry and all(hashes.get(file) == value for file, value in entry["imports"].items())
        return known and self._is_current(entry)

    async def _examine_file(self, root: Path, name: str, hashes: dict):
        try:
            found = await self._examined(root / name, root)
            imports = {file: hashes[file] for file in found["imports"] if file in hashes and file != name}
            own = {key: found[key] for key in ("classes", "bases", "read")}
            self._known[name] = {"hash": hashes[name], "imports": imports, **own}
        except (KairosError, TimeoutError) as error:
            problem = str(error) or f"it was not examined within {EXAMINE:g} s"
            logger.warning("%s keeps its former entry: %s", name, problem)
            former = self._known.get(name, {}).get("classes", {})
            # Looked at again when any file changes, which it may lack; if it was slow, in any case.
            among = "" if isinstance(error, TimeoutError) else _digest(hashes)
            read = error.read if isinstance(error, _Unusable) else {}
            entry = {"hash": hashes[name], "classes": former, "problem": problem, "among": among, "read": read}
            self._known[name] = entry

    def _publish(self, found: dict):
        before, self.experiments = self.experiments, found
        self._by_file = {}
        for each in found.values():
            self._by_file.setdefault(each["file"], []).append(each)
        gone = [{"action": "delitem", "path": [], "key": name} for name in before if name not in found]
        new = [
            {"action": "setitem", "path": [], "key": name, "value": entry}
            for name, entry in found.items()
            if before.get(name) != entry
        ]
        self.published.changed(gone + new)

    async def _examined(self, file: Path, root: Path | None) -> dict:
        """Examine a file in a process of its own; UsageError, Ended, TimeoutError."""
        self._number += 1
        key = f"examine {self._number}"
        begin = {"rid": key, "file": str(file), "root": None if root is None else str(root)}
        folder, process = self._folder / str(self._number), None
        try:
            async with self._places:
                process = await self._processes.fork("examine", key, folder, begin)
                how, data = await process.result(EXAMINE)
        except Ended as error:
            said = last_line(folder)
            raise UsageError(f"{error}{': ' if said else ''}{said}") from None
        finally:
            # The next one has its place already.
            if process is not None:
                await process.stop()
                await self._processes.drop(process)
            await asyncio.to_thread(_remove, folder)
        if how == "failed":
            raise _Unusable(data["problem"], data["read"])
        return data

    async def examine(self, filename, use_repository=True, revision=None) -> dict:
        """Return the requirements of the experiments in a file, by class; in the repository, at a
        revision, unless disabled."""
        if not use_repository:
            return (await self._examined((self._master / filename).resolve(), None))["classes"]
        name = self.state["cur_rev"] if revision is None else await self._name(revision)
        async with self._source.using(name) as root:
            return (await self._examined(root / filename, root))["classes"]


def _below(file: Path, folder: Path) -> str | None:
    """Return the name of a file relative to a folder; None if it is not below it."""
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else None


def _hashes(root: Path) -> dict[str, str]:
    """Return the hash of each file of Python below a folder, hidden ones excepted."""
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        for name in names:
            path = Path(folder, name)
            if (
                name.endswith(".py") and not name.startswith(".") and path.is_file()
            ):  # no pipe, which would be waited for
                with suppress(OSError):
                    found[path.relative_to(root).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def _digest(hashes: dict[str, str]) -> str:
    """Return a hash of all files."""
    return hashlib.sha256(repr(sorted(hashes.items())).encode()).hexdigest()


def _loaded(cache: Path) -> dict:
    try:
        return pyon.decode(cache.read_text())
    except (OSError, ValueError):
        return {}


def _save(cache: Path, known: dict):
    try:
        files.write(cache, pyon.encode(known).encode())
    except (UsageError, TypeError) as error:
        logger.warning("the list of experiments is not kept: %s", error)


def _remove(folder: Path):
    shutil.rmtree(folder, ignore_errors=True)
