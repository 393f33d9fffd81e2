"""``kairos queue``: the runs that wait or run in the laboratory."""

from ..errors import CommandLineError, UsageError
from ..labclient import connect
from .printed import print_notice
from .submit import answers, changed, moment
from .tables import json_line, print_table

__all__ = ["answer", "edit", "hold", "list_all", "move", "release", "terminate"]


def list_all(args):
    """Print the queue, in the order in which runs go, and why those wait that wait."""
    runs = connect(args.lab).queue()
    if args.json:
        for run in runs:
            print(json_line(run))
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
    lab = connect(args.lab)
    values = {
        "priority": args.priority,
        "pipeline": args.pipeline,
        "due_date": None if args.due is None else moment(args.due),
        "repeat": args.repeat,
        "arguments": changed(lab, args.run, args.arguments) or None,
    }
    given = {name: value for name, value in values.items() if value is not None}
    if not given:
        raise CommandLineError("nothing to change: give arguments as KEY=VALUE, or an option")
    lab.edit(args.run, **given)


def terminate(args) -> int:
    """End runs, at their next pause or by force; returns 1 if one is not in the queue, the others are ended all the
    same."""
    lab = connect(args.lab)
    missing = 0
    for run in args.runs:
        try:
            lab.terminate(run, args.force)
        except UsageError as error:
            print_notice(f"kairos: {error}")
            missing = 1
    return missing


def answer(args):
    """Give a run the arguments that it asks for, or refuse them. CommandLineError, UsageError."""
    lab = connect(args.lab)
    asked = lab.asked(args.run)
    if args.cancel and args.arguments:
        raise CommandLineError("--cancel takes no arguments")
    lab.answer(args.run, None if args.cancel else answers(args.arguments, asked, f"run {args.run}"))
