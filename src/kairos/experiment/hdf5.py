"""The HDF5 file of a run: its datasets in ARTIQ's layout, and their origin."""

import logging
from io import BytesIO
from pathlib import Path

from .. import pyon, resultfiles
from ..errors import UsageError
from ..files import reason, replacing
from ..numeric import floating, integer, ndarray
from ..terminal_text import one_line
from .datasets import DatasetManager

__all__ = ["add_group", "stored", "texts_of", "write_hdf5"]

logger = logging.getLogger(__name__)

COMPRESSED = 1024
"""Elements from which on an array is compressed: a chunk costs about a kilobyte."""


def write_hdf5(
    path,
    manager: DatasetManager,
    run: dict | None = None,
    sources: dict | None = None,
    waveform: dict | None = None,
    replay: dict | None = None,
    recorded: dict | None = None,
):
    """Write a run to an HDF5 file; UsageError if it cannot be written, in which case an existing
    file is unchanged.

    The groups ``datasets`` and ``archive`` have the datasets set by the run and those read from
    elsewhere. Slashes in a key create subgroups; metadata become attributes. A value that HDF5
    cannot represent is written as text, with a warning: PYON, or else Python's `repr`, as stated in
    the attribute ``text``. One that has no text either is left out, with a warning; the others are
    written. `run`: values at the top of the file (ARTIQ's have `artiq_version`,
    `rid`, `start_time`, `run_time` and `expid`). `sources`: values of the group ``provenance``,
    `waveform` and `recorded`: of ``waveform`` and ``recorded``, see `kairos.waveform.stored`, `replay`: of ``replay``,
    see `kairos.session.record`.
    """
    if Path(path).exists() and not Path(path).is_file():
        raise UsageError(f"{path} cannot be written: it is not a regular file but a device or a pipe")
    with replacing(path) as new:
        more = {"provenance": sources, "waveform": waveform, "replay": replay, "recorded": recorded}
        Path(new).write_bytes(_image(manager, run, more))


def add_group(path, name: str, values: dict):
    """Add a group to an HDF5 file, or replace it, by a new file in place of the old one; UsageError if it
    cannot be written, in which case the file is unchanged. Groups below it have slashes in their names."""
    import h5py  # imported late: see below

    try:
        # In memory, see `_image`; the file itself must not be locked for those who read it.
        memory = BytesIO(Path(path).read_bytes())
        with h5py.File(memory, "r+") as file:
            if name in file:
                del file[name]
            group = file.create_group(name)
            for key, value in values.items():
                _store(group, key, value)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {reason(error)}") from None
    with replacing(path) as new:
        Path(new).write_bytes(memory.getvalue())


def texts_of(group) -> dict[str, str]:
    """Return the texts in an open group of such a file, such as ``provenance``, and in those below it, by their
    names."""
    return {name: resultfiles.text(item) for name, item in resultfiles.datasets(group)}


def stored(values: dict) -> dict:
    """Return values of datasets, by their keys, as the file of a run has them, by their names there."""
    import h5py  # imported late: see below

    with h5py.File("run.h5", "w", driver="core", backing_store=False) as file:
        for key, value in values.items():
            _store(file, _name(key), value)
        return {name: resultfiles.value(item) for name, item in resultfiles.datasets(file)}


def _image(manager, run, more: dict[str, dict | None]) -> bytes:
    """Return the content of the file. It is made in memory: the HDF5 library may crash if the disk is
    full when it writes compressed chunks."""
    import h5py  # imported late: it takes 0.1 s, and few runs write a file

    with h5py.File("run.h5", "w", driver="core", backing_store=False) as file:
        for name, records in manager.groups().items():
            group = file.create_group(name)
            for key, record in records.items():
                _store_record(group, key, record)
        for name, value in (run or {}).items():
            _store(file, name, value)
        for kind, values in more.items():
            if values:
                group = file.create_group(kind)
                for name, value in values.items():
                    _store(group, name, value)
        file.flush()
        return file.id.get_file_image()


def _store_record(group, key, record):
    """Create a dataset with its metadata; if that is impossible, warn."""
    name = _name(key)
    if name != key:
        logger.warning(
            "Dataset %s is stored as '%s'", ascii(key) if isinstance(key, str) else type(key).__name__, one_line(name)
        )
    try:
        dataset = _store(group, name, record.value)
        for entry, value in record.metadata.items():
            dataset.attrs[_text(entry)] = value if isinstance(value, str | int | float) else repr(value)
    except OSError:
        raise  # the file cannot be written
    except Exception as error:  # raised by methods of the value: it may be anything
        logger.warning("Dataset '%s' is not stored completely: %s", name, _error_text(error))


def _name(key) -> str:
    """Return a name that HDF5 accepts, within its group: a text without empty parts."""
    return "/".join(part for part in _text(key).split("/") if part not in ("", ".")) or "unnamed"


def _text(value) -> str:
    """Return any value as a text that HDF5 accepts."""
    if not isinstance(value, str):
        try:
            value = str(value)
        except Exception as error:  # as above
            value = f"unnamed ({type(error).__name__})"
    return resultfiles.storable(value)


def _error_text(error: Exception) -> str:
    """Return an exception in a line."""
    try:
        text = str(error).partition("\n")[0]
    except Exception:  # as above
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _store(group, key: str, value):
    """Create a dataset with a value, in the first representation that works."""
    if _is_taken(group, key):
        # For example the dataset "a/b" where "a" is a dataset.
        free = _free(group, key)
        logger.warning("Dataset '%s' is stored as '%s': another one is in its way", one_line(key), one_line(free))
        key = free
    try:
        return group.create_dataset(key, data=value, **_layout(value))
    except OSError:
        raise
    except Exception as error:  # by methods of the value, too
        reason = _error_text(error)
    if key in group:  # it was created, but could not be filled
        del group[key]
    try:
        text, form = pyon.encode(value), "PYON"
    except Exception:
        text, form = repr(value), "repr"
    logger.warning("Dataset '%s' is stored as text (%s): %s", one_line(key), form, reason)
    dataset = group.create_dataset(key, data=_text(text))
    dataset.attrs["text"] = form
    return dataset


def _layout(value) -> dict:
    """Return the options for a large array or list of numbers, which is stored in compressed chunks."""
    if isinstance(value, ndarray):
        large = value.size >= COMPRESSED and value.dtype.kind in "biufc"
    else:
        large = (
            type(value) is list and len(value) >= COMPRESSED and isinstance(value[0], (int, float, integer, floating))
        )
    return {"chunks": True, "compression": "gzip", "compression_opts": 1, "shuffle": True} if large else {}


def _is_taken(group, key: str) -> bool:
    """Return whether another dataset occupies this name, or that of an enclosing group."""
    parts = key.strip("/").split("/")
    around = ("/".join(parts[:end]) for end in range(1, len(parts)))
    return not any(parts) or key in group or any(place in group and hasattr(group[place], "dtype") for place in around)


def _free(group, key: str) -> str:
    """Return an unused name without subgroups."""
    name = Path(key.strip("/")).as_posix().replace("/", ".").strip(".") or "unnamed"
    while name in group:
        name += "_"
    return name
