"""How far the runs are: the points that they have made, of those that their scans ask for.

A point is a change of the dataset that is appended to, or changed in place, most often, as in a rehearsal.
"""

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Iterable

from ..experiment.scan import count_of
from .journal import Record

__all__ = ["Progress", "asked_points"]

PERIOD = 0.5
"""Seconds between two reports of the points that runs have made."""


class Progress:
    """The points of the runs in progress. `changed()`: called when there are more, some of them at a time."""

    def __init__(self, changed: Callable[[], None]):
        self._changed = changed
        self._made: dict[int, Counter[str]] = {}
        """By run: changes of each dataset."""
        self._timer: asyncio.TimerHandle | None = None

    def take(self, rid: int, records: Iterable[Record]):
        """Take what a run has written."""
        made, before = self._made.setdefault(rid, Counter()), self.points(rid)
        for record in records:
            if record.operation == "append":
                made[record.key] += len(record.value)
            elif record.operation == "assign":
                made[record.key] += 1
        if self.points(rid) != before and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PERIOD, self._report)

    def _report(self):
        self._timer = None
        self._changed()

    def points(self, rid: int) -> int:
        """Return the number of points that a run has made."""
        return max(self._made.get(rid, {}).values(), default=0)

    def ended(self, rid: int):
        """Forget a run."""
        self._made.pop(rid, None)

    def stop(self):
        """Report nothing more."""
        if self._timer is not None:
            self._timer.cancel()


def asked_points(expid: dict, arginfo: dict) -> int:
    """Return the number of points for which the scans of a submission ask; 0 without scans. `arginfo`: the
    arguments of its experiment, as in the list of experiments; empty if they are not known."""
    given = expid.get("arguments") or {}
    defaults = {
        name: _first(described.get("default"))
        for name, (described, *_) in arginfo.items()
        if described.get("ty") == "Scannable" and name not in given
    }
    counts = [count for count in map(count_of, [*given.values(), *defaults.values()]) if count is not None]
    return max(0, math.prod(counts)) if counts else 0


def _first(default):
    """Return the default among those that are offered."""
    return default[0] if isinstance(default, list | tuple) and default else default
