"""A run in the queue, as the scheduler knows it."""

import asyncio
import numbers
import os
from dataclasses import dataclass, field
from pathlib import Path

from . import clock, results
from .contents import Contents
from .device_arguments import replaced
from .processes import Process
from .queue import Submission

__all__ = ["Run", "check_scheduling", "check_submission", "status_during", "submitted_as", "unbegun"]

FURTHEST = 1 << 31
"""Priorities, repetitions and the like are less than this: every database keeps them."""
SHOWN = 100
"""Characters of a name that an error shows."""
LATEST = 253402300800.0
"""Unix time of the end of the year 9999: later times cannot be written as dates."""


@dataclass(eq=False)
class Run:
    """A run in the queue."""

    submission: Submission
    folder: Path
    status: str = "pending"
    process: Process | None = None
    devices: tuple[str, ...] = ()
    """Names of the devices that it has requested, once it is prepared."""
    begun: bool = False
    """Its `run` has been started: from now on it is resumed."""
    failure: tuple[str, str | None] | None = None
    """Status and error with which it has ended."""
    problem: str | None = None
    """Why it cannot be stored, once it has ended."""
    task: asyncio.Task | None = field(default=None, repr=False)
    lock: int | None = None
    """Descriptor of the lock of its folder, if its process was gone when the laboratory was started."""

    def release(self):
        """Release the lock of its folder."""
        if self.lock is not None:
            os.close(self.lock)
            self.lock = None

    @property
    def rid(self) -> int:
        """Its number."""
        return self.submission.rid

    def shown(self) -> dict:
        """Return the entry in the list of runs."""
        submission = self.submission
        return {
            "pipeline": submission.pipeline,
            "expid": submission.expid,
            "repo_msg": submission.message,
            "priority": submission.priority,
            "due_date": submission.due_date,
            "flush": submission.flush,
            "status": self.status,
        }


def status_during(stage: str | None) -> str:
    """Return the status of a run whose process executes a stage; None: it has not begun."""
    return {None: "preparing", "build": "preparing", "prepare": "preparing", "run": "running"}.get(stage, "analyzing")


def check_submission(expid, **scheduling) -> dict:
    """Return how a submission is to be scheduled, see `check_scheduling`; ValueError for one that could not be run."""
    if not isinstance(expid, dict) or not isinstance(expid.get("file", expid.get("content")), str):
        raise ValueError("a submission has a file, or content")
    if not isinstance(expid.get("arguments") or {}, dict):
        raise ValueError("arguments are a dictionary")
    for name in ("class_name", "repo_rev"):
        if not isinstance(expid.get(name), str | None):
            raise ValueError(f"{name} of a submission is a text")
    name = expid.get("class_name")
    if name and not name.isidentifier():
        raise ValueError(f"class_name of a submission is the name of a class, not {name[:SHOWN]!r}")
    if "\0" in expid.get("file", ""):
        raise ValueError(f"there is no file {expid['file'][:SHOWN]!r}")
    replaced(expid)
    if not isinstance(expid.get("log_level", 0), int):
        raise ValueError("log_level of a submission is an integer")
    return check_scheduling(**scheduling)


def check_scheduling(**values) -> dict:
    """Return fields of a submission, see `queue.Submission`, as the queue keeps them; ValueError for what it cannot
    keep, or by which it could not be ordered any more."""
    return {name: _CHECKS[name](value) if name in _CHECKS else value for name, value in values.items()}


def _pipeline(value) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError(f"a pipeline is a name, not {value!r}")
    return value


def _priority(value) -> int:
    if not isinstance(value, numbers.Integral) or not -FURTHEST <= value < FURTHEST:
        raise ValueError(f"a priority is an integer of less than 32 bits, not {value!r}")
    return int(value)


def _due_date(value) -> float | None:
    if value is None:
        return None
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not abs(value) < LATEST:
        raise ValueError(f"a due date is a time in seconds of Unix time, not {value!r}")
    return float(value)


def _repeat(value) -> int:
    if not isinstance(value, numbers.Integral) or not -1 <= value < FURTHEST:
        raise ValueError(f"a run cannot be repeated {value} times: give 0 or more, or -1 for without end")
    return int(value)


def _held(value) -> str | None:
    if not isinstance(value, str | None):
        raise ValueError(f"why a run is held is a text, not {value!r}")
    return value


def _after(value) -> int | None:
    if value is not None and (not isinstance(value, numbers.Integral) or not 0 <= value < FURTHEST):
        raise ValueError(f"there is no run {value}, after which another one could run")
    return None if value is None else int(value)


_CHECKS = {
    "pipeline": _pipeline,
    "priority": _priority,
    "due_date": _due_date,
    "flush": bool,
    "repeat": _repeat,
    "after": _after,
    "held": _held,
}


def submitted_as(run: Run) -> dict:
    """Return what the queue knows about a run, as the first record of its journal has it."""
    submission = run.submission
    return {
        "rid": run.rid,
        "expid": submission.expid,
        "pipeline": submission.pipeline,
        "priority": submission.priority,
        "person": submission.person,
        "submitted": submission.submitted,
    }


def unbegun(run: Run) -> dict:
    """Return the record of a run that was not even built."""
    empty = Contents()
    empty.begin = submitted_as(run)
    empty.last = clock.now()
    return results.record_of(empty, {"status": "deleted", "error": None})
