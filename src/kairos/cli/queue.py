"""``kairos queue``: the runs that wait or run in the laboratory."""

import json

from ..errors import CommandLineError
from ..labclient import connect
from .experiments import parse_arguments
from .submit import moment
from .tables import print_table

__all__ = ["edit", "hold", "list_all", "move", "release", "terminate"]


def list_all(args):
    """Print the queue, in the order in which runs go, and why those wait that wait."""
    runs = connect(args.lab).queue()
    if args.json:
        for run in runs:
            print(json.dumps(run, default=repr))
        return
    rows = [
        (run["rid"], _status(run), _points(run), run["pipeline"], run["priority"], _title(run["expid"]))
        + (run["person"], run["why"])
        for run in runs
    ]
    names = ("run", "status", "points", "pipeline", "priority", "experiment", "by", "waits because")
    print_table(names, rows, "the queue is empty")


def _status(run: dict) -> str:
    """Return what a run does, and what it was asked to do and does at its next pause."""
    if run["status"] == "running" and run["termination"]:
        return "running, to end"
    if run["status"] == "running" and run["held"] is not None:
        return "running, to pause"
    return run["status"]


def _points(run: dict) -> str:
    made, asked = run["points"], run["asked_points"]
    return f"{made} of {asked}" if 0 < made <= asked else f"{made or ''}"


def _title(expid: dict) -> str:
    given = " ".join(f"{key}={value}" for key, value in (expid.get("arguments") or {}).items())
    name = expid.get("class_name") or expid.get("file") or "?"
    return f"{name} {given}".strip()


def move(args):
    """Place a run before or behind another one. CommandLineError."""
    if (args.before is None) == (args.behind is None):
        raise CommandLineError("give one of --before RUN and --behind RUN")
    before = args.before is not None
    connect(args.lab).move(args.run, args.before if before else args.behind, before)


def hold(args):
    """Hold a run until it is released."""
    connect(args.lab).hold(args.run, args.note or "")


def release(args):
    """Release a run."""
    connect(args.lab).release(args.run)


def edit(args):
    """Change a run that waits. CommandLineError if nothing is to be changed."""
    values = {
        "priority": args.priority,
        "pipeline": args.pipeline,
        "due_date": None if args.due is None else moment(args.due),
        "repeat": args.repeat,
        "arguments": parse_arguments(args.arguments) or None,
    }
    given = {name: value for name, value in values.items() if value is not None}
    if not given:
        raise CommandLineError("nothing to change: give arguments as KEY=VALUE, or an option")
    connect(args.lab).edit(args.run, **given)


def terminate(args):
    """End runs, at their next pause or by force."""
    lab = connect(args.lab)
    for run in args.runs:
        lab.terminate(run, args.force)
