"""``kairos runs``: the finished runs of the laboratory."""

import json
import time

from ..errors import CommandLineError
from ..labclient import connect
from ..labdata import connect as connect_data
from ..terminal_text import plain
from .follow import insist
from .submit import changed
from .tables import json_line, print_table

__all__ = ["analyze", "compare", "export", "list_all", "note", "reindex", "repeat", "show", "tag"]


DEFAULT = "(default)"
"""What an argument was that was not given."""


def _when(moment) -> str:
    return "" if moment is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))


def list_all(args):
    """Print the runs that match all conditions, the newest first."""
    found = connect(args.lab).runs(args.conditions, args.number or None)
    if args.json:
        for run in found:
            print(json.dumps(run))
        return
    rows = [
        (
            run["rid"],
            _when(run["started"] or run["ended"]),
            run["status"],
            run["class_name"],
            run["person"],
            run["error"],
        )
        for run in found
    ]
    empty = "no run matches" if args.conditions else "no run has ended yet"
    print_table(("run", "started", "status", "experiment", "by", "error"), rows, empty)


def show(args):
    """Print everything that is known of a run."""
    run = connect(args.lab).run(args.run)
    if args.json:
        print(json.dumps(run))
        return
    for name, value in run.items():
        if name in ("submitted", "started", "run_time", "ended"):
            value = _when(value)
        if name == "arguments":
            value = " ".join(f"{key}={text}" for key, text in value.items())
        if name == "numbers":
            value = " ".join(f"{key}={number:.6g}{_uncertainty(error)}" for key, (number, error) in value.items())
        if name == "tags":
            value = ", ".join(value)
        if name == "notes":
            value = "; ".join(f"{_when(note['time'])} {note['person']}: {note['text']}" for note in value)
        if value not in (None, "", "N/A") and name != "expid":
            print(f"{name}: {value}")


def _uncertainty(error: float | None) -> str:
    return "" if error is None else f"±{error:.2g}"


def compare(args):
    """Print what differs between two runs: how they were submitted, parameters, results, and sources."""
    lab = connect(args.lab)
    one, other = lab.run(args.run), lab.run(args.other)
    names = ["class_name", "file", "repo_rev", "pipeline", "person", "status"]
    rows = [(name, one[name], other[name]) for name in names if one[name] != other[name]]
    given, others = one["arguments"], other["arguments"]
    rows += [
        (name, given.get(name, DEFAULT), others.get(name, DEFAULT))
        for name in sorted({*given, *others})
        if given.get(name) != others.get(name)
    ]
    more = lab.compare(args.run, args.other)
    if args.json:
        said = {name: [None if value is DEFAULT else value for value in values] for name, *values in rows}
        print(json_line({**said, **{name: found for name, found in more.items() if found}}))
        return
    for kind in ("parameters", "results"):
        rows += [(f"{kind}: {name}", *values) for name, values in more[kind].items()]
    if rows or not more["sources"]:
        print_table(("", f"run {args.run}", f"run {args.other}"), rows, "they do not differ")
    for name, text in more["sources"].items():
        print(f"{name}:\n{plain(text)}")


def repeat(args):
    """Submit a run again, with its arguments except those that are given."""
    lab = connect(args.lab)
    rid = lab.repeat(args.run, **changed(lab, args.run, args.arguments))
    print(json.dumps({"rid": rid}) if args.json else f"run {rid}")


def analyze(args) -> int:
    """Submit the analysis of runs again; returns 1 if one was waited for and has failed."""
    lab = connect(args.lab)
    failed = False
    for run in args.runs:
        rid = lab.analyze(run)
        status = insist(args.lab, lambda lab, rid=rid: lab.wait(rid)) if args.wait else None
        failed |= status not in (None, "completed")
        if args.json:
            print(json.dumps({"rid": rid, **({"status": status} if args.wait else {})}))
        else:
            print(f"run {rid}" + (f": {status}" if args.wait else ""))
    return 1 if failed else 0


def export(args):
    """Write a table of runs, or the points of one; CommandLineError, UsageError."""
    lab = connect_data(args.lab)
    if args.points is None:
        count = lab.write_runs(args.conditions, args.output)
        print(f"{args.output}: {count} runs")
    elif args.conditions:
        raise CommandLineError("--points takes no conditions")
    else:
        count = lab.run(args.points).write(args.output)
        print(f"{args.output}: {count} rows")


def tag(args):
    """Give runs a tag, or remove it."""
    lab = connect(args.lab)
    for run in args.runs:
        lab.tag(run, args.tag, args.remove)


def note(args):
    """Add a note to a run. CommandLineError if it is empty."""
    if not args.text.strip():
        raise CommandLineError("the note is empty")
    connect(args.lab).note(args.run, args.text)


def reindex(args) -> int:
    """Rebuild the index from the files of the runs; returns 1 if a file cannot be read."""
    entered, unreadable = connect(args.lab).reindex()
    print(f"{entered} runs")
    for file in unreadable:
        print(f"{file} cannot be read")
    return 1 if unreadable else 0
