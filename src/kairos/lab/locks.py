"""Locks: a person has a pipeline or a device for themselves, with a note, until a time.

Runs that others have submitted wait: for a locked pipeline before they are prepared, for a locked
device, which they have requested in ``build``, before they are run. A run in progress goes on.
"""

import time
from dataclasses import dataclass

from sqlalchemy import delete, insert, select

from ..controllers.publishing import Publication
from ..errors import UsageError
from . import clock
from .database import Database, rows
from .tables import locks

__all__ = ["DEVICE", "LONGEST", "PIPELINE", "Lock", "Locks"]

PIPELINE, DEVICE = "pipeline", "device"
LONGEST = 30 * 86400.0
"""Seconds for which a lock may be taken."""


@dataclass(frozen=True)
class Lock:
    """A lock of a pipeline or device."""

    kind: str
    name: str
    person: str | None
    note: str
    since: float
    expires: float

    def reason(self) -> str:
        """Return why a run of somebody else waits."""
        until = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.expires))
        note = f": {self.note}" if self.note else ""
        return f"{self.kind} {self.name} is locked by {self.person or 'somebody'} until {until}{note}"


class Locks:
    """The locks of a laboratory; `publication` changes with them."""

    def __init__(self, database: Database):
        self._database = database
        with database.view() as view:
            found = [Lock(**row) for row in rows(view, select(locks))]
        self._locks = {(lock.kind, lock.name): lock for lock in found}
        self.publication = Publication(self.active)

    def active(self) -> list[Lock]:
        """Return the locks that have not expired, by name."""
        now = clock.now()
        return sorted((lock for lock in self._locks.values() if lock.expires > now), key=lambda lock: lock.name)

    def take(self, kind: str, name: str, seconds: float, person: str | None, note: str = ""):
        """Lock a pipeline or a device for somebody; again, with another note or time. UsageError if
        somebody else has it."""
        if kind not in (PIPELINE, DEVICE) or not isinstance(name, str) or not name or not name.isprintable():
            raise UsageError("a lock is one of a pipeline or a device, by name")
        if not isinstance(note, str):
            raise UsageError(f"the note of a lock is a text, not {note!r}")
        if not 0 < seconds <= LONGEST:
            raise UsageError(f"a lock is taken for at most {LONGEST / 86400:.0f} days, not for {seconds:g} s")
        lock = self._of(kind, name)
        if lock is not None and lock.person != person:
            raise UsageError(lock.reason())
        now = clock.now()
        made = Lock(kind, name, person, note, now, now + seconds)
        with self._database.change() as change:
            change.execute(delete(locks).where((locks.c.kind == kind) & (locks.c.name == name)))
            change.execute(insert(locks).values(**vars(made)))
        self._locks[kind, name] = made
        self.publication.changed([])

    def release(self, kind: str, name: str, person: str | None, force: bool = False):
        """Release a lock; UsageError if there is none, or, unless `force`, it is somebody else's."""
        lock = self._of(kind, name)
        if lock is None:
            raise UsageError(f"{kind} {name} is not locked")
        if lock.person != person and not force:
            raise UsageError(f"{lock.reason()}; force releases it all the same")
        with self._database.change() as change:
            change.execute(delete(locks).where((locks.c.kind == kind) & (locks.c.name == name)))
        del self._locks[kind, name]
        self.publication.changed([])

    def _of(self, kind: str, name: str) -> Lock | None:
        lock = self._locks.get((kind, name))
        return lock if lock is not None and lock.expires > clock.now() else None

    def blocking(self, pipeline: str, devices, person: str | None) -> str | None:
        """Return why a run in a pipeline, which uses `devices` as far as that is known, waits; None if
        it need not. `person`: who has submitted it."""
        if not self._locks:
            return None
        for kind, name in ((PIPELINE, pipeline), *((DEVICE, device) for device in devices)):
            lock = self._of(kind, name)
            if lock is not None and lock.person != person:
                return lock.reason()
        return None
