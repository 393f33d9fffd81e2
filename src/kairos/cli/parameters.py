"""``kairos parameters``: persistent datasets of the laboratory, every value they have had, and what is stale."""

import json
import time

from .. import pyon
from ..errors import UsageError
from ..labclient import connect
from ..quantities import Quantity
from .printed import print_notice
from .tables import json_line, print_table

__all__ = ["accept", "history", "list_all", "proposed", "reject", "restore", "stale"]


USES = 3
"""Runs that are named as having used a value."""


def list_all(args):
    """Print the persistent datasets: value, when and by whom it was set, and whether it is valid."""
    lab = connect(args.lab)
    states = {each["key"]: each for each in lab.parameters()}
    rows = []
    for key, shown in sorted(lab.dataset_texts(persistent=True).items()):
        (last,) = lab.parameter_history(key, 1) or ({"time": None, "rid": None, "person": None},)
        if args.json:
            if (found := lab.dataset(key)) is None:
                continue  # it has been deleted meanwhile
            _, value, metadata = found
            said = {"key": key, "pyon": pyon.encode(value), "metadata": metadata, "state": states[key]["state"]}
            print(json_line({**said, **{name: last[name] for name in ("time", "rid", "person")}}))
        rows.append((key, shown, _when(last["time"]), _origin(last), states[key]["reason"] or states[key]["state"]))
    if not args.json:
        print_table(("parameter", "value", "set", "by", "state"), rows, "no dataset is kept: persist=True keeps one")


def stale(args) -> int:
    """Print the parameters that need to be calibrated, and why; returns 1 if there are any."""
    lab = connect(args.lab)
    found = [each for each in lab.parameters() if each["state"] != "valid"]
    if args.json:
        for each in found:
            print(json.dumps(each))
    else:
        rows = [(each["key"], each["reason"], each["calibration"] or "no experiment sets it") for each in found]
        print_table(("parameter", "why", "calibrated by"), rows, "every parameter is valid")
    for problem in lab.calibrations()["problems"]:
        print_notice(f"kairos: {problem}")
    return 1 if found else 0


def proposed(args):
    """Print the values that wait for a person."""
    lab = connect(args.lab)
    found = lab.proposals()
    if args.json:
        for each in found:
            print(json.dumps(each))
        return
    rows = []
    for each in found:
        now = lab.dataset(each["key"])
        metadata = {**(now[2] if now else {}), **pyon.decode(each["metadata"])}
        quantity = Quantity.of(metadata)
        before = quantity.text(now[1], True) if now else ""
        rows.append(
            (each["id"], each["key"], before, quantity.text(pyon.decode(each["value"]), True), f"run {each['rid']}")
            + (each["objection"],)
        )
    names = ("number", "parameter", "now", "proposed", "by", "waits because")
    print_table(names, rows, "no value waits")


def accept(args):
    """Set parameters to values that wait."""
    _decide(args, True)


def reject(args):
    """Reject values that wait."""
    _decide(args, False)


def _decide(args, accepted: bool):
    lab = connect(args.lab)
    for number in args.numbers:
        lab.decide(number, accepted, args.note)


def _when(moment) -> str:
    return "" if moment is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))


def _origin(write: dict) -> str:
    return f"run {write['rid']}" if write["rid"] is not None else write["person"] or ""


def history(args):
    """Print the values that a parameter has had, the newest first. UsageError if there are none."""
    found = connect(args.lab).parameter_history(args.key, args.number)
    if not found:
        raise UsageError(f"there is no parameter {args.key}; 'kairos parameters list' lists all")
    if args.json:
        for write in found:
            print(json.dumps(write))
        return
    rows = [
        (write["id"], _when(write["time"]), _origin(write), write["value"] or "deleted", _uses(write["used"]))
        + (write["note"] or write["kind"],)
        for write in found
    ]
    print_table(("number", "set", "by", "value", "used by", "note"), rows, "it was never set")


def _uses(rids: list[int]) -> str:
    """Name the runs that have used a value, of many the newest."""
    shown = ", ".join(map(str, rids[:USES]))
    more = f" and {len(rids) - USES} more" if len(rids) > USES else ""
    return f"run {shown}{more}" if rids else ""


def restore(args):
    """Set a parameter to an earlier value, by its number in the history."""
    connect(args.lab).restore_parameter(args.key, args.number)
