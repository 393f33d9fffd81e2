"""``kairos alarms``: values that are out of their limits."""

import json
import time

from ..labclient import connect
from .tables import print_table

__all__ = ["acknowledge", "history", "list_all", "test"]


def list_all(args) -> int:
    """Print the alarms; returns 1 if one is not ok."""
    found = connect(args.lab).alarms()
    if args.json:
        for each in found:
            print(json.dumps(each))
    else:
        rows = [
            (each["name"], each["state"], _when(each["since"]), each["reason"], _note(each), each["guidance"])
            for each in found
        ]
        empty = "lab.toml has no alarms: [[alarm]] declares one"
        print_table(("alarm", "state", "since", "why", "acknowledged", "what to do"), rows, empty)
    return 1 if any(each["state"] != "ok" for each in found) else 0


def _when(moment) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment)) if moment else ""


def _note(row: dict) -> str:
    return ": ".join(filter(None, [row["person"], row["note"]]))


def history(args):
    """Print what has happened to alarms."""
    found = connect(args.lab).alarm_history(args.number)
    if args.json:
        for each in found:
            print(json.dumps(each))
        return
    rows = [(_when(each["time"]), each["name"], each["state"], each["reason"], _note(each)) for each in found]
    print_table(("when", "alarm", "state", "why", "acknowledged"), rows, "nothing has happened to alarms yet")


def acknowledge(args):
    """Acknowledge alarms."""
    lab = connect(args.lab)
    for name in args.names:
        lab.acknowledge(name, args.note)


def test(args):
    """Send a test message."""
    connect(args.lab).test_notifications()
