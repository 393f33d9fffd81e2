"""``kairos calibrate``: calibrates what is stale, and says how far it is."""

import json

from ..errors import CommandLineError
from ..labclient import connect
from .follow import insist
from .printed import print_notice
from .tables import print_table

__all__ = ["calibrate"]

FAILURES = ("failed", "skipped", "stopped")


def calibrate(args) -> int:
    """Calibrate; returns 1 if a calibration has failed or was left out. Ctrl-C ends the waiting, not
    the calibration. UsageError for an unknown name."""
    if args.names and (args.list or args.stop is not None):
        raise CommandLineError("--list and --stop take no names")
    lab = connect(args.lab)
    if args.list:
        return _list(lab, args.json)
    if args.stop is not None:
        lab.stop_calibration(args.stop)
        return 0
    number = lab.calibrate(args.names, args.force)
    if args.detach:
        print(json.dumps({"calibration": number}) if args.json else f"calibration {number}")
        return 0
    return _follow(args.lab, number, args.json)


def _list(lab, as_json: bool) -> int:
    known = lab.calibrations()
    states = {each["key"]: each for each in lab.parameters()}
    rows = []
    for each in known["calibrations"]:
        if as_json:
            print(json.dumps(each))
        reasons = [f"{key}: {states[key]['reason']}" for key in each["sets"] if states[key]["reason"]]
        rows.append((each["name"], ", ".join(each["sets"]), ", ".join(each["needs"]), "; ".join(reasons) or "valid"))
    if not as_json:
        empty = "there is no calibration: an experiment that calls self.calibrates(...) in build is one"
        print_table(("calibration", "sets", "needs", "state"), rows, empty)
    for problem in known["problems"]:
        print_notice(f"kairos: {problem}")
    return 0


def _follow(folder, number: int, as_json: bool) -> int:
    session = insist(folder, lambda lab: lab.session(number))
    shown: dict[str, tuple] = {}
    while True:
        for step in session["steps"]:
            if not as_json and shown.get(step["name"]) != _state(step) and step["state"] != "waits":
                shown[step["name"]] = _state(step)
                print(_line(step), flush=True)
        if session["ended"] is not None:
            break
        session = insist(folder, lambda lab, seen=session: lab.session_changes(number, seen))
    if as_json:
        print(json.dumps(session))
    elif all(step["state"] == "valid" for step in session["steps"]):
        print("nothing is stale")
    return 1 if any(step["state"] in FAILURES for step in session["steps"]) else 0


def _state(step: dict) -> tuple:
    return step["state"], step["rid"], step["reason"]


def _line(step: dict) -> str:
    run = "" if step["rid"] is None else f" (run {step['rid']})"
    hint = ""
    if step["state"] == "deciding":
        hint = "; 'kairos parameters proposed' shows the value, 'accept' or 'reject' decides"
    reason = f": {step['reason']}" if step["reason"] else ""
    return f"{step['name']}: {step['state']}{run}{reason}{hint}"
