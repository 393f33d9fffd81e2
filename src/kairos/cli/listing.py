"""``kairos experiments``: the experiments in the repository of the laboratory, and what they take."""

import json

from ..errors import CommandLineError, UsageError
from ..labclient import connect
from ..terminal_text import plain
from .command import suggestion
from .printed import print_notice
from .tables import json_line, print_table

__all__ = ["full_name", "list_all", "names_of", "rehearsed", "scan", "show"]


def list_all(args):
    """Print the names of all experiments; files that cannot be examined are reported on standard
    error."""
    listed = connect(args.lab).experiments()
    if args.json:
        for name, entry in listed["experiments"].items():
            print(json_line({"name": name, **entry}))
    else:
        rows = [(name, entry["class_name"], entry["file"]) for name, entry in sorted(listed["experiments"].items())]
        print_table(("experiment", "class", "file"), rows, "there is no experiment in the repository")
    for file, problem in listed["problems"].items():
        print_notice(f"kairos: {file} cannot be examined: {_in_line(problem)}")


def _in_line(problem: str) -> str:
    """Return what a problem is and, if it has a traceback, the error with which that ends."""
    lines = [line for line in problem.splitlines() if line.strip()]
    return f"{lines[0]}: {lines[-1]}" if len(lines) > 1 else problem.strip()


def rehearsed(args) -> int:
    """Print what the twin has found of all experiments; returns 1 if one does not pass. UsageError if they are not
    rehearsed."""
    lab = connect(args.lab)
    answer = lab.rehearsed_experiments()
    found = answer["experiments"]
    for name, each in sorted(found.items()):
        if args.json:
            print(json.dumps({"name": name, **{key: value for key, value in each.items() if key != "of"}}))
        else:
            more = f" ({'; '.join(each['changes'])})" if each["changes"] else ""
            print(plain(f"{name}: {each['sentence']}{more}"))
    if not answer["done"]:
        print_notice("kairos: others are being rehearsed")
    elif not found and lab.experiments()["experiments"]:
        raise UsageError("experiments are not rehearsed: set 'commits = true' under [rehearsal] in lab.toml")
    return int(not all(each["passed"] for each in found.values()))


def full_name(known: dict[str, dict], given: str) -> str | None:
    """Return the name in the list of experiments that is `given`, or that has this class; None if there is none.
    CommandLineError if several have the class."""
    return given if given in known else _only(known, "class_name", given, "has the class")


def _only(known: dict[str, dict], field: str, given: str, said: str) -> str | None:
    """Return the name of the experiment whose `field` is `given`; None if there is none. CommandLineError if there are
    several, of which `said` says what they share."""
    found = [name for name, entry in known.items() if entry[field] == given]
    if len(found) > 1:
        names = " or ".join(f"'{name}'" for name in sorted(found))
        raise CommandLineError(f"more than one experiment {said} {given}: give {names}")
    return found[0] if found else None


def _named(known: dict[str, dict], given: str) -> str | None:
    """Return the name of the experiment that is `given`, see `full_name`, or the only one in a file of this name."""
    in_file = _only(known, "file", given, "in")
    return full_name(known, given) or in_file


def names_of(known: dict[str, dict]) -> list[str]:
    """Return all that `full_name` understands, and the files."""
    names = {each for name, entry in known.items() for each in (name, entry["class_name"], entry["file"])}
    return sorted(names)


def show(args):
    """Print the arguments of an experiment, with defaults, units and help. UsageError if there is
    none of this name."""
    known = connect(args.lab).experiments()["experiments"]
    name = _named(known, args.name)
    if name is None:
        question = suggestion(args.name, names_of(known)) or "; 'kairos experiments' lists all"
        raise UsageError(f"there is no experiment '{args.name}'{question}")
    entry = known[name]
    if args.json:
        print(json_line({"name": name, **entry}))
        return
    print(f"{name}: {entry['class_name']} in {entry['file']}")
    rows = []
    for key, (described, group, tooltip) in entry["arginfo"].items():
        rows.append(
            (key, described["ty"], _default(described), described.get("unit"), _limits(described), group, tooltip)
        )
    print_table(("argument", "kind", "default", "unit", "limits", "group", "help"), rows, "it takes no arguments")


def _limits(described: dict) -> str:
    """Return the limits of an argument, in its unit: ``1 to 5``; empty if it has none."""
    ends = [described.get(name, described.get(f"global_{name}")) for name in ("min", "max")]
    low, high = ("" if end is None else f"{end / (described.get('scale') or 1):.9g}" for end in ends)
    return f"{low} to {high}" if low and high else f"from {low}" if low else f"to {high}" if high else ""


def _default(described: dict) -> str:
    """Return the default of an argument as it is given on the command line, numbers in its unit."""
    default = described.get("default", "")
    if described["ty"] == "EnumerationValue":
        return f"{default} of {', '.join(map(str, described['choices']))}".strip()
    scale, unit = described.get("scale") or 1, described.get("unit") or ""
    if described["ty"] == "Scannable" and isinstance(default, list | tuple) and default:
        return _scan(default[0], lambda number: f"{number / scale:.9g}{unit}")
    if described["ty"] == "NumberValue" and isinstance(default, int | float):
        return f"{default / scale:.9g}"
    return str(default)


def _scan(scan: dict, text) -> str:
    """Return a scan in the short form of the command line. `text`: of a number."""
    match scan:
        case {"ty": "RangeScan", "start": start, "stop": stop, "npoints": count}:
            return f"{text(start)}:{text(stop)}:{count}{':random' if scan.get('randomize') else ''}"
        case {"ty": "NoScan", "value": value}:
            return text(value)
        case {"ty": "ExplicitScan", "sequence": points}:
            return f"[{', '.join(map(text, points))}]"
        case {"ty": "CenterScan", "center": center, "span": span, "step": step}:
            return f"{text(span)} about {text(center)} in steps of {text(step)}"
    return str(scan)


def scan(args):
    """Scan the repository, and print what cannot be examined."""
    lab = connect(args.lab)
    lab.scan(args.revision)
    listed = lab.experiments()
    print(f"{len(listed['experiments'])} experiments")
    for file, problem in listed["problems"].items():
        print_notice(f"kairos: {file} keeps its former entry: {problem}")
