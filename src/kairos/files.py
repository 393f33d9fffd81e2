"""Reading and writing of files named by the user, with a one-line error on failure."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

from .errors import UsageError

__all__ = ["read", "reason", "replacing", "write"]


def read(path) -> bytes:
    """The content of a file; UsageError if it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None


def write(path, content: bytes):
    """Write a file as a whole, or leave what is there; UsageError if it cannot be written."""
    with replacing(path) as new:
        Path(new).write_bytes(content)


@contextmanager
def replacing(path):
    """A new file that takes the place of the one at `path` when it is whole; until then, and if
    anything is raised, that one is there as it was. What has no place to take is given itself: a
    device, a pipe, a file in a folder that is closed to us. UsageError for an OSError in between:
    the file cannot be written."""
    try:
        with _replacing(Path(path).resolve()) as new:  # what a link leads to, not the link
            yield new
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {reason(error)}") from None


@contextmanager
def _replacing(path: Path):
    if path.exists() and not (path.is_file() and os.access(path.parent, os.W_OK)):
        yield path
        return
    # Beside it, so that it can take its place; whoever reads the old one goes on.
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield new
        if path.exists():
            shutil.copymode(path, new)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def reason(error: Exception) -> str:
    """Why, without the libraries' own texts about their calls, which are several lines."""
    number = getattr(error, "errno", None)
    return os.strerror(number) if number else str(error).partition("\n")[0]
