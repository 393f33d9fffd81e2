"""The values that calibrations have found: accepted by their rule, or waiting until a person decides."""

import logging

from sqlalchemy import Connection, insert, select, update

from .. import pyon
from ..controllers.publishing import Publication
from ..errors import UsageError
from ..experiment.calibration import Rule
from . import clock
from .database import Database, rows
from .journal import Record
from .live import LiveDatasets
from .tables import proposals

__all__ = ["ACCEPTED", "REJECTED", "Proposals"]

logger = logging.getLogger(__name__)

ACCEPTED, REJECTED = "accepted", "rejected"


class Proposals:
    """The proposed values; `publication` changes with them."""

    def __init__(self, database: Database, datasets: LiveDatasets):
        self._database, self._datasets = database, datasets
        self.publication = Publication(self.waiting)
        datasets.caught_up.append(lambda: self.publication.changed([]))
        datasets.handlers |= {"propose": self.take, "confirm": self.take}

    def take(self, rid: int, record: Record):
        """Take a record of a run that calibrates parameters."""
        if record.operation == "confirm":
            validity = self._validity(record.key)
            try:
                self._datasets.confirm(record.key, rid=rid, record=record.number, validity=validity)
            except KeyError:
                logger.warning("run %d has checked %s, which has no value", rid, record.key)
            return
        metadata, described = record.more
        rule = Rule(**described)
        known = self._datasets.values.get(record.key)
        objection = rule.objection(record.value, None if known is None else known[1])
        moment = clock.now()
        row = {
            "key": record.key,
            "time": moment,
            "value": pyon.encode(record.value),
            "metadata": pyon.encode(metadata),
            "validity": rule.validity,
            "rid": rid,
            "record": record.number,
            "objection": objection,
            "decision": None if objection else ACCEPTED,
            "decided": None if objection else moment,
        }
        if objection is None:
            # First: a value that is accepted twice after a power cut is the same.
            self._set(row)
        else:
            logger.warning("%s = %s, found by run %d, waits: %s", record.key, row["value"], rid, objection)

        def enter(change: Connection):
            # Of several values that a run proposes one after the other, the last one counts.
            waits = (proposals.c.rid == rid) & (proposals.c.key == record.key) & proposals.c.decision.is_(None)
            superseded = {"decision": REJECTED, "decided": moment, "note": "a later value of the same run"}
            change.execute(update(proposals).where(waits).values(**superseded))
            change.execute(insert(proposals).values(**row))

        self._datasets.write(enter, by_run=True)
        self.publication.changed([])

    def _validity(self, key: str) -> float | None:
        """Return for how long a parameter was valid when it was written."""
        written = self._datasets.written.get(key)
        return None if written is None else written.validity

    def _set(self, row: dict, **origin):
        known = self._datasets.values.get(row["key"])
        # A unit that the run does not mention stays.
        metadata = {**(known[2] if known else {}), **pyon.decode(row["metadata"])}
        origin = {"rid": row["rid"], "record": row["record"], "validity": row["validity"], **origin}
        self._datasets.accept(row["key"], pyon.decode(row["value"]), metadata, **origin)

    def waiting(self) -> list[dict]:
        """Return the values that wait for a person, oldest first."""
        with self._database.view() as view:
            return rows(view, select(proposals).where(proposals.c.decision.is_(None)).order_by(proposals.c.id))

    def of_run(self, rid: int) -> list[dict]:
        """Return the values that a run has proposed."""
        with self._database.view() as view:
            return rows(view, select(proposals).where(proposals.c.rid == rid).order_by(proposals.c.id))

    def decide(self, number: int, accept: bool, person: str | None, note: str = ""):
        """Accept or reject a value that waits; UsageError if it does not."""
        with self._database.view() as view:
            found = rows(view, select(proposals).where(proposals.c.id == number))
        if not found:
            raise UsageError(f"there is no proposed value {number}")
        (row,) = found
        if row["decision"] is not None:
            raise UsageError(f"the proposed value {number} of {row['key']} was {row['decision']} already")
        if accept:
            self._set(row, person=person, note=note or None)
        decided = {"decision": ACCEPTED if accept else REJECTED, "decided": clock.now(), "person": person}
        with self._database.change() as change:
            change.execute(update(proposals).where(proposals.c.id == number).values(**decided, note=note or None))
        self.publication.changed([])
