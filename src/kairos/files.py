"""Reading and writing of files named by the user, with a one-line error on failure."""

import os
import stat
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

from .errors import UsageError

__all__ = ["folder", "name_of", "read", "read_toml", "reason", "replacing", "stem_of", "toml_of", "write"]


SETTINGS_MAX = 4 << 20
"""Maximum size in bytes of a file of settings."""


def read(path, most: int | None = None) -> bytes:
    """Return the content of a file; UsageError if it cannot be read, or has more than `most` bytes."""
    try:
        with open(path, "rb") as file:
            content = file.read() if most is None else file.read(most + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    if most is not None and len(content) > most:
        raise UsageError(f"{path} cannot be read: it has more than {most:,} bytes")
    return content


def read_toml(path) -> dict:
    """Return the settings in a TOML file; UsageError."""
    content = read(path, SETTINGS_MAX)
    try:
        return toml_of(content.decode(), path)
    except UnicodeDecodeError:
        raise UsageError(f"{path}: it is not UTF-8 text") from None


def toml_of(text: str, path) -> dict:
    """Return the settings in the text of the TOML file at `path`; UsageError."""
    import tomllib  # imported late: most runs have no settings

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UsageError(f"{path}: it is nested too deeply") from None
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from None


def write(path, content: bytes):
    """Write a file atomically, or leave the existing one unchanged; UsageError if it cannot be
    written."""
    with replacing(path) as new:
        Path(new).write_bytes(content)


def folder(path):
    """Create a folder with those around it, unless it exists; UsageError."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be created: {error.strerror}") from None


def stem_of(name: str) -> str:
    """Return how a file is called for something with any name: the name, but for characters that cannot be there."""
    kept = "".join(f"%{ord(each):02X}" if each in "/%" or ord(each) < 32 else each for each in name)
    return f"%2E{kept[1:]}" if kept.startswith(".") else kept


def name_of(stem: str) -> str:
    """Return the name for which a file is called so."""
    return unquote(stem)


@contextmanager
def replacing(path):
    """Yield a new file that replaces the one at `path` on success. Until then, and if an exception
    is raised, the existing file is unchanged. A path that cannot be replaced (a device, a pipe, a
    file in a directory without write permission) is yielded itself. An OSError in the block becomes
    a UsageError: the file cannot be written.
    """
    try:
        with _replacing(Path(path).resolve()) as new:  # the target of a symbolic link, not the link
            yield new
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {reason(error)}") from None


@contextmanager
def _replacing(path: Path):
    if path.exists() and not (path.is_file() and os.access(path.parent, os.W_OK)):
        yield path
        return
    # In the same directory, so that the rename is atomic; readers keep the old file.
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield new
        if path.exists():
            new.chmod(stat.S_IMODE(path.stat().st_mode))
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def reason(error: Exception) -> str:
    """Return the reason without the libraries' own texts about their calls, which span several
    lines."""
    number = getattr(error, "errno", None)
    return os.strerror(number) if number else str(error).partition("\n")[0] or type(error).__name__
