"""The order of runs: which one is prepared, run or analyzed next, and why another one waits.

Only decisions, no action. A pipeline passes one run at a time through each stage. What is prepared
next, and which prepared or paused run goes on, is decided by rank: priority, then the earlier due
date (none is earliest), then the place in the queue.
"""

import time
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Protocol

from .queue import Submission

__all__ = ["ACTIVE", "Ordered", "Reasons", "chosen", "is_due", "is_held", "next_due", "should_pause"]

WAITING = ("pending", "flushing")
RUNNABLE = ("prepare_done", "paused")
ACTIVE = ("preparing", "prepare_done", "running", "paused", "run_done", "analyzing", "deleting")
STAGES = (("preparing", WAITING), ("running", RUNNABLE), ("analyzing", ("run_done",)))
"""Status during each stage, and the statuses from which it is entered."""


class Ordered(Protocol):
    """A run in the queue."""

    submission: Submission
    status: str


def is_due(run: Ordered, now: float) -> bool:
    """Return whether the time has come for a run."""
    return run.submission.due_date is None or run.submission.due_date <= now


def next_due(runs: Iterable[Ordered], now: float) -> float | None:
    """Return the next due date in the future."""
    times = (run.submission.due_date for run in runs if run.status in WAITING)
    return min((moment for moment in times if moment is not None and moment > now), default=None)


def is_held(run: Ordered) -> bool:
    """Return whether a run does not go on until it is released. One that is to terminate does."""
    return run.submission.held is not None and not run.submission.termination


def _free(run) -> None:
    """Nothing is locked."""


def chosen(runs: list, now: float, unmet: Callable, locked: Callable = _free) -> list[tuple]:
    """Return the runs of a pipeline that enter a stage now, as (run, status during the stage);
    ``flushing`` for one that waits in the first stage. `unmet(submission)`: whether it waits for
    another run to succeed; `locked(run)`: why it waits for a lock, None if it does not."""
    found = []
    for during, takes in STAGES:
        ready = [
            run
            for run in runs
            if run.status in takes and (takes is not RUNNABLE or (locked(run) is None and not is_held(run)))
        ]
        if not ready or any(run.status == during for run in runs):
            continue
        if takes is not WAITING:
            found.append((max(ready, key=_rank), during))
        elif (best := _to_prepare(runs, now, unmet, locked)) is not None:
            flushing = best.submission.flush and _before(best, runs)
            found.append((best, "flushing" if flushing else during))
    return found


def _rank(run: Ordered):
    return run.submission.rank


def _may_start(run: Ordered, now: float, unmet, locked) -> bool:
    return run.submission.held is None and is_due(run, now) and not unmet(run.submission) and locked(run) is None


def _first_to_prepare(runs, now, unmet, locked):
    """Return the first of the runs that may be prepared; None if there is none."""
    ready = (run for run in runs if run.status in WAITING and _may_start(run, now, unmet, locked))
    return max(ready, key=_rank, default=None)


def _prepared(runs, locked) -> list:
    """Return the runs that are prepared and may go on."""
    return [run for run in runs if run.status == "prepare_done" and locked(run) is None and not is_held(run)]


def _to_prepare(runs, now, unmet, locked):
    best = _first_to_prepare(runs, now, unmet, locked)
    if best is None or any(_rank(run) > _rank(best) for run in _prepared(runs, locked)):
        return None
    return best


def _before(run: Ordered, runs) -> list:
    """Return the runs that must have ended before one that flushes the pipeline."""
    return [
        other
        for other in runs
        if other.status in ACTIVE
        and other.status != "deleting"
        and other.submission.priority >= run.submission.priority
    ]


def should_pause(run: Ordered, runs: Iterable[Ordered], locked: Callable = _free) -> bool:
    """Return whether a running run should let another one go first, or is held."""
    if run.status != "running" or is_held(run):
        return run.status == "running"
    return any(
        _rank(other) > _rank(run)
        for other in runs
        if other.status in RUNNABLE and other is not run and locked(other) is None and not is_held(other)
    )


class Reasons:
    """Why runs of a pipeline wait, at one moment. What they have in common is found once. `runs`: all of the
    pipeline; `unmet` and `locked`: see `chosen`."""

    def __init__(self, runs: list, now: float, unmet: Callable, locked: Callable = _free):
        self._runs, self._now, self._unmet, self._locked = runs, now, unmet, locked

    def why(self, run: Ordered) -> str | None:
        """Return why a run waits; None if it does not."""
        submission = run.submission
        if run.status in WAITING:
            if submission.held is not None:
                return f"it is held{': ' if submission.held else ''}{submission.held}"
            if self._unmet(submission):
                return f"run {submission.after} has not succeeded yet"
            if not is_due(run, self._now):
                return f"it is due at {_moment(submission.due_date)}"
            if (reason := self._locked(run)) is not None:
                return reason
            if submission.flush and (before := _before(run, self._runs)):
                return f"it flushes the pipeline: {_listed(before)} must end first"
            return self._in_first_stage(run)
        if run.status in RUNNABLE and is_held(run):
            return f"it is held{': ' if submission.held else ''}{submission.held}"
        if run.status in RUNNABLE and (reason := self._locked(run)) is not None:
            return reason
        if run.status == "prepare_done":
            first = _during("running", self._runs)
            return f"run {first.submission.rid} is running" if first else None
        if run.status == "paused":
            first = _during("running", self._runs)
            return f"run {first.submission.rid} goes first" if first else None
        if run.status == "run_done":
            first = _during("analyzing", self._runs)
            return f"run {first.submission.rid} is being analyzed" if first else None
        return None

    def _in_first_stage(self, run) -> str | None:
        if self._preparing is not None:
            return f"run {self._preparing.submission.rid} is being prepared"
        prepared = [other for other in self._prepared if _rank(other) > _rank(run)]
        if prepared:
            return f"{_listed(prepared)} is prepared and goes first"
        return f"run {self._best.submission.rid} goes first" if self._best not in (None, run) else None

    @cached_property
    def _preparing(self):
        return _during("preparing", self._runs)

    @cached_property
    def _prepared(self) -> list:
        return _prepared(self._runs, self._locked)

    @cached_property
    def _best(self):
        return _first_to_prepare(self._runs, self._now, self._unmet, self._locked)


def _during(status: str, runs):
    return next((run for run in runs if run.status == status), None)


def _listed(runs) -> str:
    numbers = ", ".join(str(run.submission.rid) for run in runs)
    return f"run{'s' if len(runs) > 1 else ''} {numbers}"


def _moment(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):
        return f"{seconds:g} s"  # of a queue of a version that has taken any number
