"""``kairos experiments``: the experiments in the repository of the laboratory, and what they take."""

import json
import sys

from ..errors import UsageError
from ..labclient import connect
from .tables import print_table

__all__ = ["list_all", "scan", "show"]


def list_all(args):
    """Print the names of all experiments; files that cannot be examined are reported on standard
    error."""
    listed = connect(args.lab).experiments()
    if args.json:
        for name, entry in listed["experiments"].items():
            print(json.dumps({"name": name, **entry}, default=repr))
    else:
        rows = [(name, entry["class_name"], entry["file"]) for name, entry in sorted(listed["experiments"].items())]
        print_table(("experiment", "class", "file"), rows)
    for file, problem in listed["problems"].items():
        print(f"kairos: {file} cannot be examined: {problem.partition(chr(10))[0]}", file=sys.stderr)


def show(args):
    """Print the arguments of an experiment, with defaults, units and help. UsageError if there is
    none of this name."""
    known = connect(args.lab).experiments()["experiments"]
    if args.name not in known:
        raise UsageError(f"there is no experiment '{args.name}'; 'kairos experiments' lists all")
    entry = known[args.name]
    if args.json:
        print(json.dumps({"name": args.name, **entry}, default=repr))
        return
    print(f"{args.name}: {entry['class_name']} in {entry['file']}")
    rows = []
    for key, (described, group, tooltip) in entry["arginfo"].items():
        default = described.get("default", "")
        if described["ty"] == "EnumerationValue":
            default = f"{default} of {', '.join(map(str, described['choices']))}".strip()
        rows.append((key, described["ty"], default, described.get("unit"), group, tooltip))
    if rows:
        print_table(("argument", "kind", "default", "unit", "group", "help"), rows)


def scan(args):
    """Scan the repository, and print what cannot be examined."""
    lab = connect(args.lab)
    lab.scan(args.revision)
    listed = lab.experiments()
    print(f"{len(listed['experiments'])} experiments")
    for file, problem in listed["problems"].items():
        print(f"kairos: {file} keeps its former entry: {problem}", file=sys.stderr)
