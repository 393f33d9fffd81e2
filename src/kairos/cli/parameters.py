"""``kairos parameters``: persistent datasets of the laboratory, and every value they have had."""

import json
import time

from .. import pyon
from ..errors import UsageError
from ..labclient import connect
from ..quantities import Quantity
from .tables import print_table

__all__ = ["history", "list_all", "restore"]


def list_all(args):
    """Print the persistent datasets: value, when and by whom it was set."""
    lab = connect(args.lab)
    rows = []
    for key, (persist, value, metadata) in sorted(lab.datasets().items()):
        if not persist:
            continue
        (last,) = lab.parameter_history(key, 1) or ({"time": None, "rid": None, "person": None},)
        if args.json:
            said = {"key": key, "pyon": pyon.encode(value), "metadata": metadata}
            print(json.dumps({**said, **{name: last[name] for name in ("time", "rid", "person")}}, default=repr))
        rows.append((key, Quantity.of(metadata).text(value, True), _when(last["time"]), _origin(last)))
    if not args.json:
        print_table(("parameter", "value", "set", "by"), rows)


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
    rows = [(write["id"], _when(write["time"]), _origin(write), write["value"] or "deleted") for write in found]
    print_table(("number", "set", "by", "value"), rows)


def restore(args):
    """Set a parameter to an earlier value, by its number in the history."""
    connect(args.lab).restore_parameter(args.key, args.number)
