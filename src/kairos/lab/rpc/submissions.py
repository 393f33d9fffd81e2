"""Submissions and their rehearsals as messages."""

from pathlib import Path

from .protocol import message, unescaped
from .values import from_json

__all__ = ["expid", "rehearsed", "rehearsed_experiment"]


def expid(request) -> dict:
    """Return what a SubmitRequest or a RehearseRequest asks for."""
    return {
        "file": unescaped(request.file),
        "class_name": request.class_name or None,
        "arguments": from_json(request.arguments),
        "repo_rev": request.revision or None,
    }


def rehearsed(found: dict):
    """Return the message RehearseResponse, see `Service.rehearse`."""
    return message(
        "RehearseResponse",
        passed=found["passed"],
        sentence=found["sentence"],
        device_s=(found.get("device_ns") or 0) / 1e9,
        lines=[_line(line, found["directory"]) for line in found.get("lines", ())],
        curves=[
            message("TheoryCurve", key=key, values=values.tolist())
            for key, (values, _) in found.get("theory", {}).items()
            if values.ndim == 1 and values.dtype.kind != "c"
        ],
        bench=found.get("numbers", {}),
    )


def rehearsed_experiment(name: str, found: dict):
    """Return the message RehearsedExperiment, see `commits.Commits`."""
    return message(
        "RehearsedExperiment",
        name=name,
        passed=found["passed"],
        rehearsed="points" in found,
        sentence=found["sentence"],
        device_s=_seconds(found.get("device_ns")),
        slack=_seconds(found.get("least_slack_ns")),
        changes=found["changes"],
        revision=str(found["revision"]),
        time=found.get("time", 0.0),
    )


def _seconds(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e9


def _line(line: dict, directory: str | None):
    path = Path(line["file"])
    inside = directory is not None and path.is_relative_to(directory)
    return message(
        "RehearsedLine",
        file=str(path.relative_to(directory)) if inside else path.name,
        line=line["line"],
        outputs=line["outputs"],
        passes=line["passes"],
        slack=_seconds(line["slack_ns"]),
        at_pass=line["at_pass"] or 0,
    )
