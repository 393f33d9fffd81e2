"""The queue: what was submitted and has not ended, on the disk before anybody is told.

Every method returns after its change is on the disk.
"""

import csv
import logging
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from sqlalchemy import delete, func, insert, select, update

from .. import pyon
from ..errors import UsageError
from ..files import reason
from ..runs import RIDCounter
from . import clock, history
from .database import Database, rows
from .tables import runs, submissions

__all__ = ["Queue", "Submission", "note_submission"]

logger = logging.getLogger(__name__)


CLOSE = 1e-6
"""Difference of positions from which on there is room for others between them."""


@dataclass(frozen=True)
class Submission:
    """What was submitted."""

    rid: int
    pipeline: str
    expid: dict
    priority: int = 0
    due_date: float | None = None
    """Seconds of Unix time before which it is not prepared."""
    flush: bool = False
    """Whether it waits until its pipeline is empty."""
    position: float = 0.0
    """Order among those of equal priority and due date."""
    held: str | None = None
    """Why it is held; None if it is not."""
    after: int | None = None
    """The run that must have succeeded."""
    repeat: int = 0
    """How often it is submitted again; -1: without end."""
    person: str | None = None
    submitted: float = field(default_factory=lambda: clock.now())
    message: str | None = None
    """Message of its commit."""
    request: str | None = None
    termination: bool = False
    """Whether it is to terminate; it has not seen that yet."""

    @property
    def rank(self):
        """The key of the order: the greatest goes first."""
        return self.priority, -(self.due_date or 0), -self.position


_NAMES = [each.name for each in fields(Submission)]


class Queue:
    """The queue in a database. `numbers`: allocates the numbers of runs."""

    def __init__(self, database: Database, numbers: RIDCounter):
        self._database, self._numbers = database, numbers

    def load(self) -> list[Submission]:
        """Return what is in the queue."""
        with self._database.view() as view:
            found = rows(view, select(submissions))
        return [Submission(**{**row, "expid": pyon.decode(row["expid"])}) for row in found]

    def submit(self, request: str | None = None, **values) -> Submission:
        """Add a submission with the fields `values`.

        `request`: names the request of a run. If it has been executed already, because the run has
        repeated it after the connection was lost, its submission is returned, and there is no other.
        """
        with self._database.change() as change:
            if request is not None and (row := _requested(change, request)) is not None:
                return row
            rid = self._numbers.get(above=_highest(change))
            made = Submission(rid, position=float(rid), request=request, **values)
            change.execute(insert(submissions).values(**_row(made)))
        return made

    def change(self, submission: Submission, **values) -> Submission:
        """Change fields of a submission; returns the new one."""
        return self._change([(submission, values)])[0]

    def _change(self, wanted: list[tuple[Submission, dict]]) -> list[Submission]:
        """Change the fields of several submissions at once; returns the new ones."""
        changed = [replace(submission, **values) for submission, values in wanted]
        with self._database.change() as change:
            for each, (_, values) in zip(changed, wanted, strict=True):
                row = _row(each)
                change.execute(
                    update(submissions)
                    .where(submissions.c.rid == each.rid)
                    .values(**{name: row[name] for name in values})
                )
        return changed

    def end(self, submission: Submission, record: dict) -> Submission | None:
        """Remove a submission and enter the run into the index; returns its repetition, if there is
        one: held if the run has failed, none if somebody has ended it. `record`: see `results.record_of`."""
        with self._database.change() as change:
            change.execute(delete(submissions).where(submissions.c.rid == submission.rid))
            history.enter(change, [record])
            if submission.repeat == 0 or submission.termination or record["status"] in ("deleted", "terminated"):
                return None
            rid = self._numbers.get(above=_highest(change))
            again = replace(
                submission,
                rid=rid,
                position=float(rid),
                repeat=submission.repeat - (submission.repeat > 0),
                request=None,
                after=None,
                held=f"run {submission.rid}, which it repeats, has failed" if record["status"] == "failed" else None,
                submitted=clock.now(),
            )
            change.execute(insert(submissions).values(**_row(again)))
        return again

    def ended(self, rid: int) -> dict:
        """Return what was submitted as a run that has ended; UsageError for an unknown one."""
        return pyon.decode(history.shown(self._database, rid)["expid"])

    def how_ended(self, rid: int) -> str | None:
        """Return the status with which a run has ended; None if it has not."""
        with self._database.view() as view:
            return view.execute(select(runs.c.status).where(runs.c.rid == rid)).scalar()

    def move(
        self, submission: Submission, other: Submission, before: bool, waiting: list[Submission]
    ) -> list[Submission]:
        """Place a submission directly before or behind another one, among those `waiting`; returns all that have
        changed, it first. UsageError if its due date forbids it."""
        if (submission.due_date or 0) != (other.due_date or 0):
            raise UsageError(
                f"run {submission.rid} cannot be placed next to run {other.rid}, which is due at another time: "
                "change the due date instead"
            )
        equals = sorted(
            (
                each
                for each in waiting
                if each.rid != submission.rid and each.rank[:2] == other.rank[:2] and each.pipeline == other.pipeline
            ),
            key=lambda each: each.position,
        )
        at = next(number for number, each in enumerate(equals) if each.rid == other.rid)
        beyond = at - 1 if before else at + 1
        step = -1.0 if before else 1.0
        limit = equals[beyond].position if 0 <= beyond < len(equals) else other.position + step
        between = (other.position + limit) / 2
        values = {"pipeline": other.pipeline, "priority": other.priority}
        if between not in (other.position, limit):
            return self._change([(submission, {**values, "position": between})])
        # After dozens of moves there is no number between the two any more.
        moved = replace(submission, **values)
        equals.insert(at if before else at + 1, moved)
        places = [(each, {"position": place}) for each, place in zip(equals, _places(equals, moved), strict=True)]
        places.sort(key=lambda each: each[0] is not moved)
        return self._change([(submission, {**values, **places[0][1]}), *places[1:]])


def _places(equals: list[Submission], moved: Submission) -> list[float]:
    """Return evenly spaced positions for submissions in this order: where they are, or further to the front if they are
    too close there. `moved`: the one that has no position yet."""
    positions = [each.position for each in equals if each is not moved]
    low, high, gaps = min(positions), max(positions), len(equals) - 1
    step = (high - low) / gaps
    if step < CLOSE:
        step = 1.0
    return [high - step * (gaps - number) for number in range(len(equals))]


def _row(submission: Submission) -> dict:
    return {name: getattr(submission, name) for name in _NAMES} | {"expid": pyon.encode(submission.expid)}


def _requested(change, request: str) -> Submission | None:
    found = rows(change, select(submissions).where(submissions.c.request == request))
    return Submission(**{**found[0], "expid": pyon.decode(found[0]["expid"])}) if found else None


def _highest(change) -> int:
    """Return the highest number in the database: the file of numbers may be older than it, after a power cut."""
    numbers = [change.execute(select(func.max(table.c.rid))).scalar() for table in (submissions, runs)]
    return max((number for number in numbers if number is not None), default=-1)


def note_submission(path: Path, submission: Submission):
    """Append a submission to a CSV file. It is in the queue, also if that is impossible."""
    try:
        with path.open("a", newline="") as file:
            csv.writer(file).writerow([submission.rid, clock.now(), submission.expid.get("file", "")])
    except OSError as error:
        logger.error("%s cannot be written: %s", path, reason(error))
