"""Alarms: datasets that must stay within limits, or must not become old.

An alarm that is raised is shown until it is acknowledged and the value is back. With `latch` it is
shown until it is acknowledged even if the value is back before.
"""

import asyncio
import logging
import math
import numbers
import time
from dataclasses import dataclass

from sqlalchemy import insert, select

from ..controllers.publishing import Publication
from ..errors import UsageError
from . import clock
from .database import Database, rows
from .events import Events
from .live import LiveDatasets
from .settings import AlarmLimits
from .tables import alarms

__all__ = ["ACKNOWLEDGED", "ACTIVE", "LATCHED", "OK", "Alarm", "Alarms"]

logger = logging.getLogger(__name__)

OK, ACTIVE, ACKNOWLEDGED, LATCHED = "ok", "active", "acknowledged", "latched"
CHECK_INTERVAL = 1.0
"""Seconds between looks at the age of values."""


@dataclass
class Alarm:
    """An alarm. `state`: `OK`; `ACTIVE`: the value is out, and nobody has acknowledged that;
    `ACKNOWLEDGED`: it is still out; `LATCHED`: it is back, and nobody has acknowledged that it was out."""

    limits: AlarmLimits
    state: str = OK
    since: float = 0.0
    """Seconds of Unix time since when it is in its state."""
    reason: str = ""
    person: str | None = None
    note: str | None = None
    out_since: float | None = None
    """When the value has left its limits, on the monotonic clock; None if it is within them."""

    def described(self) -> dict:
        """Return it as a dictionary."""
        named = {"name": self.limits.name, "dataset": self.limits.dataset, "guidance": self.limits.guidance}
        own = {name: getattr(self, name) for name in ("state", "since", "reason", "person", "note")}
        return {**named, **own}


class Alarms:
    """The alarms of a laboratory, on its `datasets`; `publication` changes with them."""

    def __init__(self, wanted: tuple[AlarmLimits, ...], datasets: LiveDatasets, database: Database, events: Events):
        self._datasets, self._database, self._events = datasets, database, events
        self.alarms = {limits.name: Alarm(limits) for limits in wanted}
        self.publication = Publication(self.described)
        self._by_key: dict[str, list[Alarm]] = {}
        for alarm in self.alarms.values():
            self._by_key.setdefault(alarm.limits.dataset, []).append(alarm)
        begun = time.monotonic()
        self._changed_at = dict.fromkeys(self._by_key, begun)
        """When each dataset has changed last, on the monotonic clock."""
        self._timer: asyncio.TimerHandle | None = None

    def start(self):
        """Take over the states of an earlier laboratory, and watch from now on."""
        if not self.alarms:
            return
        for alarm in self.alarms.values():
            self._restore(alarm)
        self._datasets.publication.watchers.append(self._take)
        self._examine_all()

    def close(self):
        """Stop watching."""
        if self._timer is not None:
            self._timer.cancel()

    def described(self) -> list[dict]:
        """Return all alarms: those that are out first."""
        order = (ACTIVE, LATCHED, ACKNOWLEDGED, OK)
        found = sorted(self.alarms.values(), key=lambda alarm: (order.index(alarm.state), alarm.limits.name))
        return [{**alarm.described(), **self._missing(alarm)} for alarm in found]

    def _missing(self, alarm: Alarm) -> dict:
        """Return why an alarm that is in order cannot be anything else: its dataset may be misspelt."""
        key = alarm.limits.dataset
        missing = alarm.state == OK and key not in self._datasets.values
        return {"reason": f"there is no dataset {key}"} if missing else {}

    def history(self, limit: int = 100) -> list[dict]:
        """Return what has happened to alarms, newest first."""
        with self._database.view() as view:
            return rows(view, select(alarms).order_by(alarms.c.id.desc()).limit(limit))

    def acknowledge(self, name: str, person: str | None, note: str = ""):
        """Acknowledge an alarm; UsageError if there is none, or it needs none."""
        alarm = self.alarms.get(name)
        if alarm is None:
            raise UsageError(f"there is no alarm '{name}'; there are {', '.join(self.alarms) or 'none'}")
        if alarm.state not in (ACTIVE, LATCHED):
            raise UsageError(f"alarm '{name}' is {alarm.state}: there is nothing to acknowledge")
        alarm.person, alarm.note = person, note or None
        self._set(alarm, ACKNOWLEDGED if alarm.state == ACTIVE else OK, alarm.reason)

    # Watching

    def _restore(self, alarm: Alarm):
        query = select(alarms).where(alarms.c.name == alarm.limits.name).order_by(alarms.c.id.desc()).limit(1)
        with self._database.view() as view:
            found = rows(view, query)
        if found:
            row = found[0]
            alarm.state, alarm.since, alarm.reason = row["state"], row["time"], row["reason"] or ""
            alarm.person, alarm.note = row["person"], row["note"]
            if alarm.state in (ACTIVE, ACKNOWLEDGED):
                alarm.out_since = -math.inf

    def _take(self, changes: list[dict]):
        # Called with every change of any dataset.
        touched = {change["path"][0] if change["path"] else change["key"] for change in changes}
        for key in touched & self._by_key.keys():
            self._changed_at[key] = time.monotonic()
            for alarm in self._by_key[key]:
                self._examine(alarm)

    def _examine_all(self):
        for alarm in self.alarms.values():
            self._examine(alarm)
        self._timer = asyncio.get_running_loop().call_later(CHECK_INTERVAL, self._examine_all)

    def _examine(self, alarm: Alarm):
        now = time.monotonic()
        reason = self._objection(alarm.limits, now)
        if reason is None:
            alarm.out_since = None
            if alarm.state == ACTIVE:
                self._set(alarm, LATCHED if alarm.limits.latch else OK, alarm.reason)
            elif alarm.state == ACKNOWLEDGED:
                self._set(alarm, OK, alarm.reason)
            return
        if alarm.out_since is None:
            alarm.out_since = now
        if alarm.state in (OK, LATCHED) and now - alarm.out_since >= alarm.limits.delay:
            alarm.person = alarm.note = None
            self._set(alarm, ACTIVE, reason)

    def _objection(self, limits: AlarmLimits, now: float) -> str | None:
        """Return in which way a value is out; None if it is not."""
        entry = self._datasets.values.get(limits.dataset)
        age = now - self._changed_at[limits.dataset]
        if limits.age is not None and age > limits.age:
            return f"{limits.dataset} has not changed for {limits.age:g} s"
        if entry is None:
            return None
        value = _newest(entry[1])
        if value is _NOTHING:
            return None
        if not isinstance(value, numbers.Real):
            return f"{limits.dataset} is no number"
        scale, unit = entry[2].get("scale"), entry[2].get("unit") or ""
        if not isinstance(scale, numbers.Real) or not scale:
            scale = 1
        shown = f"{limits.dataset} = {_number(value) / scale:.6g} {unit}".rstrip()
        if value != value:
            return f"{shown}: it is no number"
        if limits.minimum is not None and value < limits.minimum:
            return f"{shown} is below {limits.minimum / scale:.6g} {unit}".rstrip()
        if limits.maximum is not None and value > limits.maximum:
            return f"{shown} is above {limits.maximum / scale:.6g} {unit}".rstrip()
        return None

    def _set(self, alarm: Alarm, state: str, reason: str):
        before, alarm.state, alarm.since, alarm.reason = alarm.state, state, clock.now(), reason
        row = {"name": alarm.limits.name, "time": alarm.since, "state": state, "reason": reason}
        try:
            with self._database.change() as change:
                change.execute(insert(alarms).values(**row, person=alarm.person, note=alarm.note))
        except UsageError as error:
            # On a full disk an alarm is raised all the same.
            logger.error("alarm '%s': %s", alarm.limits.name, error)
        name = alarm.limits.name
        if state == ACTIVE:
            logger.error("alarm '%s': %s", name, reason)
            self._events.emit("alarm", f"alarm {name}: {reason}", alarm.limits.guidance, name)
        elif before in (ACTIVE, ACKNOWLEDGED):
            logger.warning("alarm '%s' is %s", name, state)
            if state != ACKNOWLEDGED:
                self._events.emit("alarm_cleared", f"alarm {name} is over", subject=name)
        self.publication.changed([])


_NOTHING = object()


def _newest(value):
    """Return the number that counts of a dataset's value: of a list the last one, `_NOTHING` if it has none."""
    if isinstance(value, list | tuple) or getattr(value, "ndim", 0):
        if not len(value):
            return _NOTHING
        value = value[-1]
    if getattr(value, "shape", None) == ():  # a number of NumPy, or an array of one without a dimension
        value = value.item()
    return value


def _number(value) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
