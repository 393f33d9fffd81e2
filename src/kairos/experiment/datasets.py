"""Datasets: named results of an experiment, kept locally, archived, and broadcast to subscribers.

A dataset is local to the run that sets it unless it is broadcast; a broadcast dataset lives in a
`DatasetDB`, in which other experiments of the same process find it. Values read from there are
recorded in the archive of the run, so that an output file contains everything a result depends on.
"""

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import UsageError
from .arguments import NoDefault
from .calibration import Calibration, Rule

__all__ = [
    "ARCHIVE",
    "BROADCAST",
    "PERSIST",
    "DatasetDB",
    "DatasetManager",
    "apply_change",
    "fit_groups",
    "lookup",
    "subscript",
    "without_none",
]

logger = logging.getLogger(__name__)

BROADCAST, PERSIST, ARCHIVE = 1, 2, 4
"""Flags of a dataset that is set, as they are noted."""


class Broadcast(NamedTuple):
    """A broadcast dataset."""

    persist: bool
    value: Any
    metadata: dict


class DatasetDB:
    """Broadcast datasets in memory. Every method except `set` raises KeyError for an unknown key."""

    def __init__(self):
        self.data: dict[str, Broadcast] = {}

    def check(self):
        """Raise UsageError if the database is unusable. In memory it never is."""

    def get(self, key):
        return self.data[key].value

    def get_metadata(self, key):
        return self.data[key].metadata

    def set(self, key, value, persist=None, metadata=None):
        """Set a dataset; without `persist` or `metadata`, they are unchanged, and a new dataset is
        not persistent and has none."""
        before = self.data.get(key)
        if persist is None:
            persist = before is not None and before.persist
        if metadata is None:
            metadata = {} if before is None else before.metadata
        self.data[key] = Broadcast(persist, value, metadata)

    def propose(self, key, value, metadata, rule: Rule):
        """Set a parameter if its rule accepts the value, else say why not."""
        before = self.get(key) if self._has(key) else None
        objection = rule.objection(value, before)
        if objection is None:
            self.set(key, value, True, metadata)
        else:
            logger.warning("parameter '%s' = %r is not set: %s", key, value, objection)

    def _has(self, key) -> bool:
        try:
            self.get(key)
        except KeyError:
            return False
        return True

    def delete(self, key):
        del self.data[key]

    def changed(self, key):
        """Report that a dataset, if it exists, was changed in place."""

    def close_db(self):
        """Close the database."""


_ACTIONS = {
    "setitem": lambda target, change: target.__setitem__(change["key"], change["value"]),
    "delitem": lambda target, change: target.__delitem__(change["key"]),
    "append": lambda target, change: target.append(change["x"]),
    "insert": lambda target, change: target.insert(change["i"], change["x"]),
    "pop": lambda target, change: target.pop(change["i"]),
}


def apply_change(target, change: dict):
    """Change the element at ``path`` of a structure; KeyError if there is none, UsageError for an
    unknown ``action``."""
    if change["action"] not in _ACTIONS:
        raise UsageError(f"'{change['action']}' is not a dataset modification; use one of {', '.join(_ACTIONS)}")
    for step in change["path"]:
        target = target[step]
    _ACTIONS[change["action"]](target, change)


class _Record(NamedTuple):
    """A dataset set by a run, or read by it from the broadcast ones."""

    value: Any
    metadata: dict
    archived: bool = True
    """Whether it is written to the run's file."""
    broadcast: bool = False


def subscript(index):
    """Convert the subscript forms of the API: an int, a tuple of slice arguments, or a tuple with
    one of these for each dimension, among which are tuples."""
    if not isinstance(index, tuple):
        return index
    if any(isinstance(part, tuple | slice) for part in index):
        return tuple(slice(*part) if isinstance(part, tuple) else part for part in index)
    return slice(*index)


class DatasetManager:
    """Datasets of one run on top of the shared `ddb`: those it has set, and those it has read.

    `note(operation, key, value, more)`: called with every change: ``set``, more being (flags,
    metadata); ``append``; ``assign``, more being the subscript; ``delete``; and with every dataset
    read from elsewhere: ``read``, more being its metadata.
    """

    def __init__(self, ddb: DatasetDB | None = None, note: Callable | None = None):
        self.ddb = DatasetDB() if ddb is None else ddb
        self._note = note or (lambda operation, key, value=None, more=None: None)
        self.calibration = Calibration()
        """What the experiment has declared about the parameters that it sets."""
        self._fits: dict[str, Any] = {}
        """By name, `fits.RunFit`."""
        self.fitted: dict[str, dict] = {}
        """Results of the fits at the end of the run, by name."""
        self._written: dict[str, _Record] = {}
        self._read: dict[str, _Record] = {}

    @property
    def local(self) -> dict[str, Any]:
        """The datasets that the run has set for its file, by key."""
        return {key: record.value for key, record in self._written.items() if record.archived}

    @property
    def archive(self) -> dict[str, Any]:
        """The datasets that the run has read from elsewhere, by key."""
        return {key: record.value for key, record in self._read.items()}

    def groups(self) -> dict[str, dict[str, _Record]]:
        """Return the groups of the run's file: ``datasets`` and ``archive``."""
        found = {"datasets": {k: r for k, r in self._written.items() if r.archived}, "archive": self._read}
        return {**found, **fit_groups(self.fitted)}

    def set(self, key, value, metadata, broadcast=False, persist=False, archive=True):
        """Set a dataset, and withdraw it from places where it should no longer appear."""
        if persist and key in self.calibration.sets:
            self._propose(key, value, metadata)
            return
        record = _Record(value, metadata, archived=archive, broadcast=broadcast or persist)
        before = self._written.get(key)
        if record.broadcast:
            self.ddb.set(key, value, persist, metadata)
        elif before is not None and before.broadcast:
            self.ddb.delete(key)
        self._written[key] = record
        if not (record.archived or record.broadcast):
            logger.warning("Dataset '%s' will not be stored: it is neither broadcast nor archived", key)
            del self._written[key]
            self._note("delete", key)
            return
        flags = BROADCAST * record.broadcast | PERSIST * bool(persist) | ARCHIVE * bool(archive)
        self._note("set", key, value, (flags, metadata))

    def _propose(self, key, value, metadata):
        """Propose a value of a parameter that this run calibrates; in the run's file it is a dataset."""
        rule = self.calibration.sets[key]
        self._written[key] = _Record(value, metadata)
        self._note("set", key, value, (ARCHIVE, metadata))
        self._note("propose", key, value, (metadata, rule._asdict()))
        self.ddb.propose(key, value, metadata, rule)

    def confirm(self):
        """Note that the parameters that this run calibrates are as good as if they had been set now."""
        for key in self.calibration.sets:
            self._note("confirm", key)

    def fit(self, *fit) -> Any:
        """Declare a fit, a `fits.RunFit`: shape, y, x, error, initial, fixed, name; see
        `HasEnvironment.fit_dataset`."""
        from .fits import declared  # imported late: few experiments fit

        made = declared(self, *fit)
        self._fits[made.name] = made
        self._note("fit", made.name, None, made.described())
        return made

    def write_entry(self, text: str):
        """Write an entry of the logbook; see `HasEnvironment.add_to_logbook`."""
        logger.info("logbook: %s", text)
        self._note("note", "", text)

    def end_fits(self):
        """Fit for the last time, and note the results."""
        for name, fit in self._fits.items():
            try:
                result = fit.result().described()
            except Exception as error:  # whatever the values are, the run is stored
                result = {"shape": fit.shape, "values": {}, "errors": {}, "problem": f"{type(error).__name__}: {error}"}
            self.fitted[name] = {**result, "y": fit.y, "x": fit.x}
            self._note("fitted", name, None, self.fitted[name])

    def _own(self, key):
        """Return the value of a dataset set by this run. If it is also broadcast, that is the same
        object."""
        record = self._written.get(key)
        if record is None:
            raise KeyError(f"Cannot mutate nonexistent dataset '{key}'")
        return record.value if record.archived else self.ddb.get(key)

    def mutate(self, key, index, value):
        """Set an element or a slice of a dataset of this run; KeyError if the run has not set it."""
        target = self._own(key)
        target[subscript(index)] = value
        self._note("assign", key, value, index)
        self.ddb.changed(key)

    def append_to(self, key, value):
        """Append to a list of this run; KeyError if the run has not set it, AttributeError if it is
        no list."""
        target = self._own(key)
        if not hasattr(target, "append"):
            kind = type(target).__name__
            raise AttributeError(f"Cannot append to dataset '{key}', {kind}: set it as a list, or mutate elements")
        target.append(value)
        self._note("append", key, value)
        self.ddb.changed(key)

    def get(self, key, archive=True):
        """Return the value of a dataset; foreign ones are recorded in the `archive`, if requested.
        KeyError if there is none."""
        record = self._written.get(key)
        if record is not None and record.archived:
            return record.value
        value = self.ddb.get(key)
        if archive:
            if key in self._read:
                logger.warning("Dataset '%s' is already in archive, overwriting", key)
            metadata = self.ddb.get_metadata(key)
            self._read[key] = _Record(value, metadata)
            self._note("read", key, value, metadata)
        return value

    def get_metadata(self, key):
        """Return the metadata of a dataset; KeyError if there is none."""
        record = self._written.get(key)
        return self.ddb.get_metadata(key) if record is None else record.metadata


def fit_groups(fitted: dict[str, dict]) -> dict[str, dict[str, _Record]]:
    """Return the group ``fits`` of a run's file, if there are any: ``NAME/PARAMETER``, with the
    standard error as attribute ``uncertainty``."""
    records = {}
    for name, fit in fitted.items():
        records[f"{name}/shape"] = _Record(fit["shape"], {"y": fit.get("y") or "", "x": fit.get("x") or ""})
        for parameter, value in fit["values"].items():
            error = fit["errors"].get(parameter)
            records[f"{name}/{parameter}"] = _Record(value, {} if error is None else {"uncertainty": error})
    return {"fits": records} if records else {}


def without_none(options: dict) -> dict:
    """Drop options that are None."""
    return {name: value for name, value in options.items() if value is not None}


def lookup(key, default, getter: Callable):
    """Return the result of `getter`, or `default` if there is one and the key is unknown."""
    try:
        return getter()
    except KeyError:
        if default is NoDefault:
            raise KeyError(f"Dataset '{key}' not found") from None
        return default
