"""What differs between two runs that have ended: results, the parameters that they have read, and sources."""

import difflib
import hashlib
from contextlib import suppress
from pathlib import Path

from .. import resultfiles
from ..errors import UsageError
from .excerpts import OWN, stored_sources

__all__ = ["differences"]

DEVICES = "device_db.py"
LONG = 1000
"""Elements of a value from which on its hash is shown."""


def differences(one: dict, other: dict, results: Path) -> dict:
    """Return what differs between two runs, whose records are `history.shown`: `results` and `parameters`, by name as
    the two values (None: there is none), and `sources`, by file as a unified difference. `results`: their folder."""
    contents: list[tuple[dict, dict]] = [({}, {}), ({}, {})]
    if one["results"] and other["results"]:  # of a run that was never built nothing is known
        contents = [_contents(run, results) for run in (one, other)]
    numbers = [{name: number for name, (number, _) in run["numbers"].items()} for run in (one, other)]
    return {
        "results": _different(*numbers),
        "parameters": _different(*(parameters for parameters, _ in contents)),
        "sources": {
            name: "\n".join(
                difflib.unified_diff(
                    (before or "").splitlines(),
                    (after or "").splitlines(),
                    f"run {one['rid']}",
                    f"run {other['rid']}",
                    lineterm="",
                )
            )
            for name, (before, after) in _different(*(sources for _, sources in contents)).items()
        },
    }


def _different(one: dict, other: dict) -> dict:
    return {
        name: [one.get(name), other.get(name)] for name in sorted({*one, *other}) if one.get(name) != other.get(name)
    }


def _contents(run: dict, results: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the parameters that a run has read, as text, and its sources."""
    path = results / run["results"]
    sources = stored_sources(path, run["file"] or OWN)
    parameters: dict[str, str] = {}
    with suppress(UsageError), resultfiles.opened(path) as file:
        for name, node in (resultfiles.group_of(file, "archive") or {}).items():
            if hasattr(node, "dtype"):
                parameters[name] = _text(node)
        if "provenance/device_db" in file:
            sources[DEVICES] = resultfiles.text(file["provenance/device_db"])
    return parameters, sources


def _text(node) -> str:
    if node.size is not None and node.size > LONG:
        digest = hashlib.sha256(resultfiles.value(node).tobytes()).hexdigest()[:12]
        return f"{node.dtype} {node.shape} {digest}"
    value = resultfiles.value(node)
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
