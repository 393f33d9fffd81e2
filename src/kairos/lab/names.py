"""Names that a laboratory knows, for the completion of command lines (:mod:`kairos.cli.candidates`)."""

from sqlalchemy import select

from . import history
from .tables import tags

__all__ = ["names"]

MOST = 100
"""Runs that are listed, the newest."""
STATUSES = ("completed", "failed", "terminated", "deleted", "interrupted")


def names(laboratory, kind: str, of: str) -> list[str]:
    """Return the names of a kind; `of`: what they belong to. None of a kind that does not exist."""
    find = _KINDS.get(kind)
    return [] if find is None else find(laboratory, of)


def _experiments(lab, of) -> list[str]:
    """Full names and files: both can be submitted."""
    return [*_experiment_names(lab, of), *{entry["file"]: None for entry in lab.repository.experiments.values()}]


def _experiment_names(lab, of) -> list[str]:
    return list(lab.repository.experiments)


def _named(lab, of: str) -> list[dict]:
    """Return the experiments that a name, a class, a file or the number of a run stands for."""
    known = lab.repository.experiments
    if of in known:
        return [known[of]]
    if of.isdecimal():
        return lab.repository.entries(lab.scheduler.expid(int(of)))
    return [entry for entry in known.values() if of in (entry["file"], entry["class_name"])]


def _classes(lab, of) -> list[str]:
    return [entry["class_name"] for entry in _named(lab, of)]


def _arguments(lab, of) -> list[str]:
    """Return ``name=`` of each argument, and ``name=value`` of each value that is listed."""
    found: list[str] = []
    asked = lab.interactive.asked(int(of)) if of.isdecimal() else None
    listed = [{key: more for key, *more in asked["arglist_desc"]}] if asked else []
    for arguments in listed or [entry["arginfo"] for entry in _named(lab, of)]:
        for key, (described, *_) in arguments.items():
            values = described.get("choices", ())
            if described.get("ty") == "BooleanValue":
                values = ("false", "true")
            found += [f"{key}={value}" for value in ("", *values)]
    return found


def _persistent(lab, of) -> list[str]:
    return [key for key, (persist, *_) in lab.datasets.values.items() if persist]


def _calibrations(lab, of) -> list[str]:
    graph = lab.calibrator.graph()
    return [*graph.order, *(key for name in graph.order for key in graph.calibrations[name].sets)]


def _queued(lab, of) -> list[str]:
    return [str(rid) for rid in lab.scheduler.runs]


def _runs(lab, of) -> list[str]:
    return [str(record["rid"]) for record in history.records(lab.database, [], MOST)]


def _tags(lab, of) -> list[str]:
    with lab.database.view() as view:
        return [tag for (tag,) in view.execute(select(tags.c.tag).distinct().limit(MOST))]


def _pipelines(lab, of) -> list[str]:
    return list({"main": None, **{run.submission.pipeline: None for run in lab.scheduler.runs.values()}})


def _conditions(lab, of) -> list[str]:
    recent = history.records(lab.database, [], MOST)
    return [
        *(f"status={each}" for each in STATUSES),
        *(f"tag={each}" for each in _tags(lab, of)),
        *{f"person={record['person']}": None for record in recent if record["person"]},
        *{record["class_name"]: None for record in recent if record["class_name"]},
    ]


_KINDS = {
    "alarm": lambda lab, of: [alarm["name"] for alarm in lab.alarms.described()],
    "argument": _arguments,
    "calibration": _calibrations,
    "class": _classes,
    "condition": _conditions,
    "dataset": lambda lab, of: list(lab.datasets.values),
    "device": lambda lab, of: list(lab.device_entries),
    "experiment": _experiments,
    "experiment name": _experiment_names,
    "parameter": _persistent,
    "pipeline": _pipelines,
    "queued": _queued,
    "run": _runs,
    "tag": _tags,
}
