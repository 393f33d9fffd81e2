"""``kairos submit``: checks an experiment and its arguments, and puts it into the queue of the laboratory."""

import json
import time
from datetime import datetime, timedelta
from pathlib import Path

from ..errors import CommandLineError, UsageError
from ..experiment import arguments as kinds
from ..experiment.scan import Scannable
from ..labclient import connect
from .command import check_known, suggestion
from .experiments import argument_texts, chosen_class, parse_arguments
from .follow import insist
from .listing import full_name, names_of
from .options import log_level
from .printed import print_notice

__all__ = ["answers", "changed", "moment", "submit"]

_KINDS = {
    "BooleanValue": kinds.BooleanValue,
    "EnumerationValue": kinds.EnumerationValue,
    "NumberValue": kinds.NumberValue,
    "StringValue": kinds.StringValue,
    "Scannable": Scannable,
}
_NO_FIELDS = ("ty", "default")


def submit(args) -> int:
    """Submit the experiment of the command line, or only rehearse it; returns 1 if it was waited for and
    has not succeeded."""
    lab = connect(args.lab)
    expid, arginfo = _found(lab, args)
    expid["log_level"] = log_level(args.verbose)
    expid["arguments"] = _typed(argument_texts(args.arguments), arginfo, expid["class_name"])
    if args.rehearse:
        return _rehearse(lab, expid, args.json)
    more = {"after": args.after, "repeat": args.repeat, "held": args.hold}
    rid = lab.submit(
        expid,
        args.pipeline,
        args.priority,
        None if args.due is None else moment(args.due),
        args.flush or None,
        **{name: value for name, value in more.items() if value is not None},
    )
    if not args.json:
        print(f"run {rid}", flush=True)

    def rehearsed(lab):
        return lab.rehearsed(rid) if lab.policy(rid) != "off" else None

    rehearsal = insist(args.lab, rehearsed) if args.wait else rehearsed(lab)
    must_wait = rehearsal is not None and rehearsal["policy"] == "must" and not rehearsal["passed"]
    if rehearsal is not None and not args.json:
        _print_rehearsal(rehearsal["passed"], f"run {rid}: {rehearsal['sentence']}")
        if must_wait:
            print_notice(f"run {rid} is held; mend it, then submit it again, or release it")
    status = insist(args.lab, lambda lab: lab.wait(rid)) if args.wait and not must_wait else None
    if args.json:
        found = {"rid": rid, "rehearsal": rehearsal, **({"status": status} if args.wait else {})}
        print(json.dumps({name: value for name, value in found.items() if value is not None}))
    elif status is not None:
        print(f"run {rid}: {status}")
    return 0 if status in (None, "completed") and not must_wait else 1


def _rehearse(lab, expid: dict, as_json: bool) -> int:
    found = lab.rehearse(expid)
    if as_json:
        print(json.dumps({name: value for name, value in found.items() if name != "directory"}))
    else:
        _print_rehearsal(found["passed"], found["sentence"])
    return int(not found["passed"])


def moment(text: str, now: float | None = None) -> float:
    """Return a time in seconds of Unix time: ``HH:MM[:SS]`` (when clocks show this next, after `now`), or ISO 8601;
    CommandLineError.

    Without an offset from UTC it is local time. A date and time that clocks show twice, when they are put back, is the
    first of the two; what they skip, when they are put forward, is as much later: 3:30 instead of 2:30. So it is in
    calendars (RFC 5545) and in the page.
    """
    now = time.time() if now is None else now
    for form in ("%H:%M", "%H:%M:%S"):
        try:
            clock = datetime.strptime(text, form).time()
        except ValueError:
            continue
        today = datetime.fromtimestamp(now).date()
        days = [datetime.combine(today + timedelta(days=day), clock) for day in range(-1, 3)]
        return min(instant for day in days for instant in _instants(day) if instant > now)
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise CommandLineError(f"'{text}' is not a time: give 22:30, or {time.strftime('%Y-%m-%dT%H:%M')}") from None


def _instants(local: datetime) -> list[float]:
    """Return when clocks show a local time; if they skip it, when they would have."""
    first, second = local.timestamp(), local.replace(fold=1).timestamp()
    return [first, second] if second > first else [first]


def _found(lab, args) -> tuple[dict, dict]:
    """Return the submission without arguments, and the arguments that the experiment takes;
    UsageError if there is none."""
    listed, path = lab.experiments(), Path(args.experiment)
    found, in_folder = _listed(listed, args), listed["revision"] is None
    if found is None and path.is_file():
        file = str(path.resolve())
        classes = lab.examine(file)
        name = chosen_class(classes, args.experiment, args.class_name)
        return {"file": file, "class_name": name}, classes[name]["arginfo"]
    if in_folder and (found is None or argument_texts(args.arguments).keys() - found[1].keys()):
        lab.scan()  # the file may have been written, or changed, since the last scan
        listed = lab.experiments()
        found = _listed(listed, args)
    if found is None:
        newest = "" if in_folder else " ('kairos experiments scan' looks at the newest commit)"
        known = suggestion(args.experiment, names_of(listed["experiments"])) or "; 'kairos experiments' lists all"
        raise UsageError(f"there is no experiment or file '{args.experiment}'{known}{newest}")
    return found


def _listed(listed: dict, args) -> tuple[dict, dict] | None:
    """As `_found`, of the experiments that the laboratory has listed; None if it is not among them."""
    known = listed["experiments"]
    name = full_name(known, args.experiment)
    revision = {"repo_rev": args.revision}
    if name is not None:
        entry = known[name]
        return {"file": entry["file"], "class_name": entry["class_name"], **revision}, entry["arginfo"]
    of_file = {name: entry for name, entry in known.items() if entry["file"] == args.experiment}
    if of_file:
        classes = {entry["class_name"]: entry for entry in of_file.values()}
        name = chosen_class(classes, args.experiment, args.class_name)
        return {"file": args.experiment, "class_name": name, **revision}, classes[name]["arginfo"]
    if args.experiment in listed["problems"]:
        raise UsageError(f"{args.experiment} cannot be examined: {listed['problems'][args.experiment]}")
    return None


def changed(lab, rid: int, texts: list[str]) -> dict:
    """Return arguments ``KEY=VALUE`` that a run is to have instead of its own; CommandLineError for an invalid one."""
    given = argument_texts(texts)
    if not given:
        return {}
    name, arginfo = lab.described(rid)
    return parse_arguments(texts) if arginfo is None else _values(given, arginfo, name)


def answers(texts: list[str], asked: dict, name: str) -> dict:
    """Return what a run has asked for, from arguments ``KEY=VALUE`` and defaults; CommandLineError."""
    given = _typed(argument_texts(texts), asked, name)
    return {key: given[key] if key in given else described["default"] for key, (described, *_) in asked.items()}


def _typed(given: dict[str, str], arginfo: dict, name: str) -> dict:
    """Return arguments as they are submitted, from their texts; CommandLineError for an invalid one."""
    values = _values(given, arginfo, name)
    missing = [key for key, (described, *_) in arginfo.items() if "default" not in described and key not in values]
    if missing:
        raise CommandLineError(f"argument '{missing[0]}' has no default: give it as {missing[0]}=VALUE")
    return values


def _values(given: dict[str, str], arginfo: dict, name: str) -> dict:
    check_known(name, set(given) - set(arginfo), set(arginfo))
    values = {}
    for key, text in given.items():
        try:
            values[key] = _value(arginfo[key][0], text)
        except Exception as error:
            raise CommandLineError(f"argument {key} = {text}: {error}") from None
    return values


def _value(described: dict, text: str):
    if described["ty"] not in _KINDS:
        return _of_another_kind(described, text)
    processor = _KINDS[described["ty"]](**{name: given for name, given in described.items() if name not in _NO_FIELDS})
    value = processor.typed(text)
    processor.process(value)
    return value


def _of_another_kind(described: dict, text: str):
    """Return an argument of any type, or of a kind that only the experiment knows."""
    if described.get("unit") and described["ty"] != "PYONValue":
        return kinds.quantity(text, str(described["unit"]))
    value = kinds.PYONValue().typed(text)
    # An experiment decodes texts.
    return text if isinstance(value, str) or described["ty"] == "PYONValue" else value


def _print_rehearsal(passed: bool, sentence: str):
    if passed:
        print(sentence, flush=True)
    else:
        print_notice(sentence)
