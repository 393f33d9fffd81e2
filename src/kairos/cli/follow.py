"""``kairos log`` and ``kairos watch``: what happens in the laboratory."""

import json
import logging
import socket
import sys
import time

from .. import pyon
from ..errors import KairosError
from ..experiment.datasets import apply_change
from ..labclient import addresses, connect
from ..quantities import Quantity
from .tables import json_line

__all__ = ["log", "watch"]

RETRY = 0.5
"""Seconds between attempts to reach a laboratory that is being started again."""


def _lines(folder, port: str, greeting: str):
    """Yield the values that a port sends, across restarts of the laboratory."""
    while True:
        try:
            where = addresses(folder)
            with socket.create_connection((where["host"], where[port])) as connection:
                connection.sendall(greeting.encode())
                with connection.makefile("rb") as lines:
                    for line in lines:
                        yield pyon.decode(line.decode())
        except (OSError, ValueError, KairosError):
            pass
        time.sleep(RETRY)


def log(args):
    """Print the newest records of the log, and follow it if requested."""
    records = connect(args.lab).log(args.number)
    for record in records:
        _print_record(record, args.json)
    if not (records or args.json or args.follow) and args.number:
        print("nothing was logged yet")
    if args.follow:
        for record in _lines(args.lab, "broadcast", "ARTIQ broadcast\nlog\n"):
            _print_record(record, args.json)


def _print_record(record, as_json: bool):
    level, source, moment, text = record
    if as_json:
        print(json.dumps({"level": level, "source": source, "time": moment, "text": text}), flush=True)
    else:
        name = logging.getLevelName(level)
        print(f"{time.strftime('%H:%M:%S', time.localtime(moment))} {name} {source}: {text}", flush=True)


def watch(args):
    """Print datasets whenever they change, by default all, until interrupted; the first output is
    their present state."""
    connect(args.lab)
    datasets: dict = {}
    for change in _lines(args.lab, "notify", "ARTIQ sync_struct\ndatasets\n"):
        if change["action"] == "init":
            datasets = change["struct"]
            changed = set(datasets)
            if sys.stdout.isatty() and not (changed & set(args.keys) if args.keys else changed):
                print(f"no dataset{' of these' if args.keys else ''} yet; waiting", file=sys.stderr)
        else:
            entries = {key: list(entry) for key, entry in datasets.items()} if change["path"] else datasets
            apply_change(entries, change)
            datasets = {key: tuple(entry) for key, entry in entries.items()}
            changed = {change["path"][0] if change["path"] else change["key"]}
        for key in sorted(changed):
            if key in datasets and (not args.keys or key in args.keys):
                _print_dataset(key, *datasets[key], args.json)


def _print_dataset(key, persist, value, metadata, as_json: bool):
    if as_json:
        fields = {"key": key, "pyon": pyon.encode(value), "persist": persist, "metadata": metadata}
        print(json_line(fields), flush=True)
    else:
        print(f"{key}: {Quantity.of(metadata).text(value, sys.stdout.isatty())}", flush=True)
