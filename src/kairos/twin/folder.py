"""All experiments of a folder, and how what their rehearsals find differs from what was found before."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..cli.experiments import import_file
from ..errors import KairosError, UsageError
from ..experiment.environment import is_base, is_public_experiment
from ..files import reason
from ..waveform.stored import packed
from .rehearsal import Rehearsal
from .verdict import brief, sentence

__all__ = ["changes", "differs", "experiments_in", "experiments_of", "known", "summary"]

LARGEST, MOST = 100_000, 200
"""Datasets that count as figures: numbers of the largest, and how many."""


def experiments_of(root: Path) -> Iterator[tuple[str, str, type | KairosError]]:
    """Yield name, file and class of each experiment in a folder and below it; instead of the class,
    why a file cannot be imported."""
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root)
        if any(part.startswith((".", "__")) for part in inside.parts) or path.name.startswith("test_"):
            continue
        try:
            for name, value in experiments_in(str(path)):
                yield f"{inside.as_posix()}:{name}", str(path), value
        except KairosError as error:
            yield inside.as_posix(), str(path), error


def experiments_in(path: str) -> list[tuple[str, type]]:
    """Return name and class of each experiment that a file defines, but for bases of others, without `run`. KairosError
    if it cannot be imported."""
    try:
        module = import_file(path, prefix="rehearsed_")
    except SystemExit as error:
        raise UsageError(f"{path} ends when it is imported ({error.code}): is it a program?") from None
    named = ((name, value) for name, value in vars(module).items() if is_public_experiment(value))
    return [(name, value) for name, value in named if not is_base(value, module)]


def summary(found: Rehearsal) -> dict:
    """Return what is compared: verdict, points, least slack, time on the device, waveform (its hash), figures of the
    physics."""
    least = found.least
    return {
        "passed": found.passed,
        "points": found.points,
        "least_slack_ns": None if least is None else least.slack_ns,
        "device_ns": found.device_ns,
        "waveform": "" if found.recording is None or found.stopped else _digest(found),
        "figures": {} if found.stopped else _figures(found.datasets),
        "sentence": sentence(found, with_duration=False),
    }


def _figures(datasets: dict) -> dict[str, float]:
    """Return the physics figures of an experiment: its datasets that are numbers, and of lists and arrays of numbers
    the mean of those that are there."""
    figures = {}
    for key, value in sorted(datasets.items()):
        try:
            values = np.asarray(value)
        except (ValueError, TypeError):
            continue  # rows of several lengths
        if values.dtype.kind not in "iuf" or not 0 < values.size <= LARGEST or len(figures) == MOST:
            continue
        values = values[np.isfinite(values)]
        if len(values):
            figures[f"mean of {key}" if np.ndim(value) else key] = float(values.mean())
    return figures


def _digest(found: Rehearsal) -> str:
    values = packed(found.recording, "twin")
    digest = hashlib.sha256()
    for name in ("names", "initial", "counts", "changes", "waves"):
        value = values[name]
        digest.update("\0".join(value).encode() if isinstance(value, list) else value.tobytes())
    return digest.hexdigest()


def known(path: Path) -> dict[str, dict]:
    """Return what `--record` has written; UsageError."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be compared with: {reason(error)}") from None
    if not isinstance(found, dict) or not all(isinstance(entry, dict) for entry in found.values()):
        raise UsageError(f"{path} cannot be compared with: 'kairos rehearse --all --record' has not written it")
    return found


def changes(before: dict, after: dict) -> list[str]:
    """Return what differs, as texts."""
    found = []
    if before.get("passed") != after.get("passed"):
        found.append("it passed before" if before.get("passed") else "it failed before")
    if before.get("points") != after.get("points"):
        found.append(f"{before.get('points')} points before")
    for name, what in (("least_slack_ns", "least slack"), ("device_ns", "time on the device")):
        old, new = before.get(name), after.get(name)
        if old != new:
            found.append(f"{what} {'none' if old is None else brief(old)} before")
    if before.get("waveform") != after.get("waveform"):
        found.append("another waveform")
    return [*found, *_other_figures(before, after)]


def differs(before: dict, after: dict) -> bool:
    """Return whether anything differs of what both have: what was written by an older version has less."""
    return any(before.get(name) != after.get(name) for name in after if name in before or name != "figures")


def _other_figures(before: dict, after: dict) -> Iterator[str]:
    """Yield which figures differ, of what both have: what was written by an older version has none."""
    if "figures" not in before or "figures" not in after:
        return
    old, new = before["figures"], after["figures"]
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            now, then = (f"{figures[name]:.4g}" if name in figures else "none" for figures in (new, old))
            # Equal in so many digits, they are told exactly.
            if now == then:
                now, then = f"{new[name]!r}", f"{old[name]!r}"
            yield f"{name} {now}, {then} before"
