"""Outputs of cards set by people: a short run, submitted like any other, when nothing else uses the device.

It is refused while something else does, since a value that is set hours later, in the midst of a night's queue, is not
what was wanted.
"""

import asyncio

from ..errors import UsageError
from ..outputs import CLASS, EXPERIMENT
from . import history, order

__all__ = ["ended", "submission"]

PIPELINE = "main"
USING = "prepare_done", "running", "paused"
"""Statuses of a run whose devices are known, and that uses them or will soon."""
LONGEST = 25.0
"""Seconds for which the end of the run is awaited; a client waits for 30 s."""


async def submission(lab, device: str, name: str, values: dict, initialise: bool, person: str | None) -> dict:
    """Return the submission that sets an output of a core device, "" for any; UsageError, in one line, if it is
    impossible now."""
    from ..outputs.settings import check  # imported late: it loads the drivers, which load NumPy

    for core in [device] if device else lab.monitors.names():
        monitor = lab.monitors.of(core)
        with monitor.following():
            await monitor.ready()
            row = monitor.rows.get(name)
        if row is not None:
            break
    else:
        raise UsageError(f"there is no output '{name}'")
    if row.is_pin:
        raise UsageError(f"{name} is a pin: override it with 0 or 1")
    if row.is_input:
        raise UsageError(f"{name} is measured by its card: there is nothing to set")
    check(name, list(row.settings), values)
    if reason := lab.locks.blocking(PIPELINE, [core, name.partition(":")[0]], person) or _busy(lab):
        raise UsageError(f"{name} is not set: {reason}")
    arguments = {"output": name, "values": values, "initialise": initialise}
    return {"file": str(EXPERIMENT), "class_name": CLASS, "arguments": arguments}


def _busy(lab) -> str:
    """Return which run uses a device, or will at once; empty if none."""
    scheduler = lab.scheduler
    for run in scheduler.runs.values():
        waits = run.status in order.WAITING and scheduler.why(run) is None
        unknown = waits or run.status == "preparing"
        if (unknown or run.status in USING) and not order.is_held(run) and (unknown or _uses_core(lab, run)):
            doing = "runs" if run.status == "running" else "is about to run"
            return f"run {run.rid} {doing}; wait for its end, or pause it in Queue"
    return ""


def _uses_core(lab, run) -> bool:
    """Return whether one of the devices that a run has requested is behind a core device."""
    entries = lab.device_entries
    return any(isinstance(entry := entries.get(name), dict) and entry.get("type") == "local" for name in run.devices)


async def ended(lab, rid: int | None, name: str) -> int:
    """Wait for the end of the run that sets an output; returns its number. UsageError if it has not set it; one that
    its rehearsal has refused does not stay in the queue."""
    if rid is None:
        raise UsageError("the laboratory is ending")
    changed = asyncio.Event()

    def note(_):
        changed.set()

    watchers = lab.scheduler.publication.watchers
    watchers.append(note)
    try:
        async with asyncio.timeout(LONGEST):
            while (run := lab.scheduler.runs.get(rid)) is not None:
                if order.is_held(run):
                    lab.scheduler.delete(rid)
                    raise UsageError(f"{name} is not set: {run.submission.held}")
                changed.clear()
                await changed.wait()
    except TimeoutError:
        reason = lab.scheduler.why(run) or f"it is {run.status}"
        raise UsageError(f"run {rid} has not set {name} yet: {reason}") from None
    finally:
        watchers.remove(note)
    record = history.shown(lab.database, rid)
    if record["status"] != "completed":
        raise UsageError(f"{name} is not set: run {rid} {record['status']}: {record['error'] or 'see its log'}")
    return rid
