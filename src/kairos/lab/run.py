"""A run in the queue, as the scheduler knows it."""

import asyncio
import os
from dataclasses import dataclass, field
from pathlib import Path

from . import clock, results
from .contents import Contents
from .processes import Process
from .queue import Submission

__all__ = ["Run", "check_repeat", "check_submission", "status_during", "unbegun"]


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


def check_submission(pipeline_name, expid, priority, repeat=0):
    """Raise ValueError for a submission that could not be run."""
    if not isinstance(pipeline_name, str) or not isinstance(priority, int):
        raise ValueError("a pipeline is a name, a priority an integer")
    if not isinstance(expid, dict) or not isinstance(expid.get("file", expid.get("content")), str):
        raise ValueError("a submission has a file, or content")
    if not isinstance(expid.get("arguments") or {}, dict):
        raise ValueError("arguments are a dictionary")
    check_repeat(repeat)


def check_repeat(repeat):
    """Raise ValueError for what is no number of repetitions."""
    if not isinstance(repeat, int) or repeat < -1:
        raise ValueError(f"a run cannot be repeated {repeat} times: give 0 or more, or -1 for without end")


def unbegun(run: Run) -> dict:
    """Return the record of a run that was not even built."""
    expid = run.submission.expid
    empty = Contents()
    empty.begin = {
        "rid": run.rid,
        "expid": expid,
        "pipeline": run.submission.pipeline,
        "priority": run.submission.priority,
        "person": run.submission.person,
        "submitted": run.submission.submitted,
    }
    empty.stage = {"arguments": expid.get("arguments") or {}}
    empty.last = clock.now()
    return results.record_of(empty, {"status": "deleted", "error": None})
