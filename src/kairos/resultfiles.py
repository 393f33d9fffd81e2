"""Reading HDF5 files of runs, which may be damaged, from elsewhere, or made to do harm.

Whatever a file has in place of what is expected is one error that names the file: h5py raises exceptions of many
classes for damage. What a file of some kilobytes announces is not allocated. Who writes such a file finds here in what
form it takes a text.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from .errors import KairosError, UsageError

__all__ = ["datasets", "flag", "group_of", "opened", "text", "text_of", "texts", "value", "storable"]

LARGEST = 1 << 28
"""Bytes of a dataset up to which it is read, however few of them the file has."""
RATIO = 1100
"""Bytes of a larger dataset for one in the file, at most: deflate reaches 1,032."""


@contextmanager
def opened(path) -> Iterator:
    """Yield the open file at `path`. UsageError if it cannot be read, or whatever the block raises: that is for reading
    its content only."""
    import h5py  # imported late: it takes 0.1 s

    try:
        with h5py.File(path) as file:
            yield file
    except KairosError:
        raise
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}") from None
    except Exception as error:
        reason = getattr(error, "strerror", None) or "it is not an HDF5 file, or is damaged"
        raise UsageError(f"{path} cannot be read: {reason}") from error


def group_of(group, name: str):
    """Return the group of a name in another one, None if there is none. TypeError for a dataset, which might have any
    number of elements to be searched."""
    found = group.get(name)
    if found is not None and not hasattr(found, "visititems"):
        raise TypeError(f"{name} is no group")
    return found


def value(item):
    """Return the value of a dataset. UsageError if it is larger than what the file can have."""
    if (item.nbytes or 0) > max(LARGEST, RATIO * item.id.get_storage_size()):
        raise UsageError(f"{item.file.filename} is damaged: the dataset {item.name} of {item.nbytes} bytes has no data")
    return item[()]


def text(item) -> str:
    """Return the value of a dataset that is a text; invalid UTF-8 is replaced."""
    found = value(item)
    if isinstance(found, bytes):
        return found.decode(errors="replace")
    if isinstance(found, str):
        return found
    raise TypeError(f"{item.name} is no text")


def texts(item) -> list[str]:
    """Return the value of a dataset that is a list of texts; invalid UTF-8 is replaced."""
    return [one.decode(errors="replace") if isinstance(one, bytes) else str(one) for one in value(item).tolist()]


def text_of(group, name: str, absent: str = "") -> str:
    """Return the text of a name in a group; `absent` if there is none."""
    return text(group[name]) if name in group else absent


def flag(group, name: str, absent: bool = True) -> bool:
    """Return the truth value of a name in a group; `absent` if there is none."""
    return bool(value(group[name])) if name in group else absent


def datasets(group) -> Iterator[tuple[str, object]]:
    """Yield the datasets in a group, and in those below it, by their names; none for None."""
    found: list[tuple[str, object]] = []
    if group is not None:
        group.visititems(lambda name, item: found.append((name, item)) if hasattr(item, "dtype") else None)
    yield from found


def storable(text: str) -> str:
    """Return a text as HDF5 stores it: without NUL, in UTF-8."""
    return text.replace("\0", "\\0").encode(errors="backslashreplace").decode()
