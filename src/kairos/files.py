"""Files that a user names: read and written, and one clear line if that cannot be."""

from pathlib import Path

from .errors import UsageError

__all__ = ["read", "write"]


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
