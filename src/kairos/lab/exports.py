"""The files of a commit, written out by Git's command line, with those of its submodules.

The folder of experiments may be one of a larger repository: then only its files are written.
"""

import logging
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from ..errors import UsageError
from .disk import shortage

__all__ = ["export", "git", "prefix"]

logger = logging.getLogger(__name__)

SUBMODULE = "160000"
"""Mode of an entry of a tree that is a commit of another repository."""


def git(root: Path, *words: str, index: Path | None = None) -> bytes:
    """Return what a command of Git prints in the repository `root`; UsageError. `index`: a file that takes the place
    of the repository's index."""
    environment = None if index is None else {**os.environ, "GIT_INDEX_FILE": str(index)}
    try:
        done = subprocess.run([*_git(root), *words], capture_output=True, env=environment)
    except OSError as error:
        raise UsageError(f"git cannot be started: {error.strerror}") from None
    if done.returncode:
        raise UsageError(f"{root}: {_reason(done.stderr)}")
    return done.stdout


def _git(root: Path) -> list:
    """Return the beginning of a command. The repository of a submodule names a working copy, which may be gone."""
    return ["git", "-C", root, *(["--work-tree=."] if (root / "HEAD").exists() else [])]


def _reason(said: bytes) -> str:
    """Return the line in which a program says why it has failed."""
    lines = [line.strip() for line in said.decode(errors="replace").splitlines() if line.strip()]
    return next((line for line in lines if line.startswith("fatal:")), lines[-1] if lines else "it has failed")


def prefix(root: Path) -> str:
    """Return the path of a folder in its repository, with a slash at its end; empty for the whole repository."""
    return os.fsdecode(git(root, "rev-parse", "--show-prefix")).removesuffix("\n")


def export(root: Path, commit: str, folder: Path):
    """Write the files of a commit to a folder, which is made; UsageError. A submodule that was not fetched is left
    empty, which the log says."""
    folder.mkdir(parents=True, exist_ok=True)
    _unpack(root, commit, folder)
    listed = git(root, "ls-tree", "-r", "-z", commit).decode(errors="surrogateescape").split("\0")
    entries = [entry.partition("\t") for entry in listed if entry.startswith(SUBMODULE)]
    for described, _, path in entries:
        inner = described.split()[2]
        source = next((each for each in _places(root, commit, path) if _has(each, inner)), None)
        if source is None:
            logger.warning(
                "the submodule %s of %s is left empty: 'git submodule update --init' fetches it", path, commit[:12]
            )
        else:
            export(source, inner, folder / path)


def _unpack(root: Path, commit: str, folder: Path):
    """As a checkout, with its filters: `git archive` leaves out what is marked ``export-ignore``."""
    with tempfile.TemporaryDirectory() as place:
        index = Path(place, "index")
        try:
            inside = prefix(root)
            # Git writes the files of the folder in which it is called, with their paths in the whole repository.
            whole = folder.resolve() if not inside else folder.resolve().with_name(f"{folder.name}.whole")
            git(root, "read-tree", commit, index=index)
            git(root, "checkout-index", "--all", f"--prefix={whole}/", index=index)
        except UsageError as error:
            # Git does not always say why it could not write a file.
            reason = shortage(folder) or str(error).removeprefix(f"{root}: ")
            raise UsageError(f"the files of the commit {commit[:12]} cannot be written: {reason}") from None
        if inside:
            _take_out(whole, inside, folder, commit)


def _take_out(whole: Path, inside: str, folder: Path, commit: str):
    """Move the files of a folder of a repository that was written to `whole` to `folder`."""
    try:
        if not (whole / inside).is_dir():
            raise UsageError(f"the commit {commit[:12]} has no folder {inside.removesuffix('/')}")
        for path in (whole / inside).iterdir():
            path.rename(folder / path.name)
    finally:
        shutil.rmtree(whole, ignore_errors=True)


def _places(root: Path, commit: str, path: str) -> list[Path]:
    """Return where the repository of a submodule may be: in the working copy, or beside the objects of `root`."""
    places = [root / path]
    try:
        path = prefix(root) + path  # so it is called there
        ours = root / git(root, "rev-parse", "--git-common-dir").decode().strip()
        named = git(root, "config", "-z", "--blob", f"{commit}:.gitmodules", "--get-regexp", r"^submodule\..*\.path$")
    except UsageError:
        return places
    for entry in named.decode(errors="surrogateescape").split("\0"):
        key, _, value = entry.partition("\n")
        if value == path:
            places.append(ours / "modules" / key.removeprefix("submodule.").removesuffix(".path"))
    return places


def _has(place: Path, commit: str) -> bool:
    """Return whether a folder is a repository of its own that has a commit."""
    if not (place / ".git").exists() and not (place / "HEAD").exists():
        return False  # Git would look into the folders above it
    try:
        git(place, "cat-file", "-e", f"{commit}^{{commit}}")
        return True
    except UsageError:
        return False
