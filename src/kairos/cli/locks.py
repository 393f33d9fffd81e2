"""``kairos locks``: a pipeline or a device for oneself."""

import json
import re
import time

from ..errors import CommandLineError
from ..labclient import connect
from .tables import print_table

__all__ = ["list_all", "release", "take"]

_UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86400}


def list_all(args):
    """Print the locks."""
    found = connect(args.lab).locks()
    if args.json:
        for lock in found:
            print(json.dumps(lock))
    else:
        rows = [
            (lock["kind"], lock["name"], lock["person"], _when(lock["since"]), _when(lock["expires"]), lock["note"])
            for lock in found
        ]
        print_table(("what", "name", "by", "since", "until", "note"), rows, "nothing is locked")


def _when(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


def take(args):
    """Lock a pipeline or a device."""
    connect(args.lab).lock(args.kind, args.name, _seconds(args.duration), args.note)


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|min|h|d)", text.strip())
    if found is None:
        raise CommandLineError(f"'{text}' is not a length of time: give 30min, 2h or 1d")
    return float(found[1]) * _UNITS[found[2]]


def release(args):
    """Release a lock."""
    connect(args.lab).unlock(args.kind, args.name, args.force)
