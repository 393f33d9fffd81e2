"""Files that a user names: read and written, and one clear line if that cannot be."""

import errno
import os
from contextlib import contextmanager
from pathlib import Path

from .errors import UsageError

__all__ = ["read", "replacing", "write"]


def read(path) -> bytes:
    """The content of a file; UsageError if it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None


def write(path, content: bytes):
    """Write a file; UsageError if it cannot be written."""
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None


@contextmanager
def replacing(path):
    """A new file that takes the place of the one at `path` when it is whole; until then, and if
    anything is raised, that one is there as it was. OSError if it cannot be, or if `path` is a
    device or a pipe."""
    path = Path(path).resolve()  # what a link leads to, not the link
    if path.exists() and not path.is_file():
        # Taking the place of a device would leave none.
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    # Beside it, so that it can take its place; whoever reads the old one goes on.
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield new
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
