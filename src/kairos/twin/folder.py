"""All experiments of a folder, and how what their rehearsals find differs from what was found before."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from ..cli.experiments import import_file
from ..errors import KairosError, UsageError
from ..experiment.environment import is_public_experiment
from ..files import reason
from ..waveform.stored import packed
from .rehearsal import Rehearsal
from .verdict import brief, sentence

__all__ = ["changes", "experiments_of", "known", "summary"]


def experiments_of(root: Path) -> Iterator[tuple[str, str, type | KairosError]]:
    """Yield name, file and class of each experiment in a folder and below it; instead of the class,
    why a file cannot be imported."""
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root)
        if any(part.startswith((".", "__")) for part in inside.parts) or path.name.startswith("test_"):
            continue
        try:
            module = import_file(str(path), prefix="rehearsed_")
        except KairosError as error:
            yield inside.as_posix(), str(path), error
            continue
        for name, value in list(vars(module).items()):
            if is_public_experiment(value) and value.__module__ == module.__name__:
                yield f"{inside.as_posix()}:{name}", str(path), value


def summary(found: Rehearsal) -> dict:
    """Return what is compared: verdict, points, least slack, time on the device, waveform (its hash)."""
    least = found.least
    return {
        "passed": found.passed,
        "points": found.points,
        "least_slack_ns": None if least is None else least.slack_ns,
        "device_ns": found.device_ns,
        "waveform": "" if found.recording is None or found.stopped else _digest(found),
        "sentence": sentence(found, with_duration=False),
    }


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
    return found
