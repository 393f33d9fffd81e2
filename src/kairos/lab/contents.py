"""What the journal of a run says: its datasets, how far it has got, and how it has ended."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..experiment.datasets import fit_groups, subscript
from .journal import ARCHIVE, Reader, Record
from .values import finite

__all__ = ["Contents", "Entry", "contents", "contents_of", "progress_of"]


class Entry(NamedTuple):
    """A dataset of a run."""

    value: Any
    metadata: dict
    flags: int


class Contents:
    """The sum of the records of a journal."""

    def __init__(self):
        self.begin: dict = {}
        """What is known when a run begins: `rid`, `expid`, `pipeline`, `started` and others."""
        self.stages: list[str] = []
        """The stages that it has entered: ``build``, ``prepare``, ``run``, ``analyze``."""
        self.stage: dict = {}
        """The fields of all stages: `class_name`, `run_time` and others."""
        self.end: dict | None = None
        """How it has ended: `status`, `error`; None if it was interrupted."""
        self.written: dict[str, Entry] = {}
        self.read: dict[str, Entry] = {}
        self.read_at: dict[str, float] = {}
        """When it has read them last, in seconds of Unix time."""
        self.fits: dict[str, dict] = {}
        """Results of its fits, by name."""
        self.first = 0.0
        """Time of the first record, in seconds of Unix time."""
        self.last = 0.0
        """That of the last one."""
        self.damaged = 0
        """Records, or gaps between them, that cannot be read."""

    def groups(self) -> dict[str, dict[str, Entry]]:
        """Return the groups of the run's file: ``datasets`` and ``archive``."""
        kept = {key: entry for key, entry in self.written.items() if entry.flags & ARCHIVE}
        return {"datasets": kept, "archive": self.read, **fit_groups(self.fits)}

    def scalars(self) -> dict[str, float]:
        """Return the datasets that are single finite numbers, by key."""
        found = ((key, finite(entry.value)) for key, entry in self.written.items())
        return {key: number for key, number in found if number is not None}

    def take(self, record: Record):
        """Add a record."""
        self.first = self.first or record.time
        self.last = record.time
        match record.operation:
            case "set":
                flags, metadata = record.more
                self.written[record.key] = Entry(record.value, metadata, flags)
            case "append":
                self.written[record.key].value.extend(record.value)
            case "assign":
                self.written[record.key].value[subscript(record.more)] = record.value
            case "delete":
                self.written.pop(record.key, None)
            case "read":
                self.read[record.key] = Entry(record.value, record.more, ARCHIVE)
                self.read_at[record.key] = record.time
            case "fitted":
                self.fits[record.key] = record.more
            case "begin":
                self.begin = record.more
            case "stage":
                self.stages.append(record.key)
                self.stage |= record.more
            case "end":
                self.end = record.more


def contents(records: Iterable[Record]) -> Contents:
    """Return the sum of the records. One that does not fit those before it, which only damage to
    the file can bring about, is left out."""
    total = Contents()
    for record in records:
        try:
            total.take(record)
        except (LookupError, TypeError, ValueError, AttributeError):
            continue
    return total


def contents_of(path) -> Contents:
    """Return what a journal says that nobody writes any more."""
    reader = Reader(path, complete=True)
    total = contents(reader.records())
    total.damaged = reader.damaged
    return total


class Progress(NamedTuple):
    """How far a run has got."""

    stage: str | None
    """The stage that it has entered last; None: it has not begun."""
    begun: bool
    """Whether its `run` was called, or may have been: damage has hit the journal."""
    end: dict | None
    """How it has ended: `status`, `error`; None if it has not, or was interrupted."""


def progress_of(path) -> Progress:
    """Return how far the run has got whose journal it is, without decoding what it has measured."""
    stages, end = [], None
    reader = Reader(path, complete=True, only=frozenset({"stage", "end"}))
    for record in reader.records():
        if record.operation == "stage":
            stages.append(record.key)
        else:
            end = record.more
    begun = "run" in stages or reader.damaged > 0
    return Progress(stages[-1] if stages else None, begun, end)
