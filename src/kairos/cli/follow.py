"""``kairos log`` and ``kairos watch``: what happens in the laboratory, also while it is started again."""

import json
import logging
import select
import socket
import sys
import time
from contextlib import suppress

from .. import pyon
from ..controllers.publishing import NUMBERS
from ..controllers.sockets import dialled
from ..errors import KairosError
from ..experiment.datasets import apply_change
from ..labclient import LaboratoryOffline, connect
from ..labfolder import BROADCAST, NOTIFY, state_of
from ..quantities import Quantity
from ..terminal_text import record_lines
from .printed import OutputFailed, print_notice
from .tables import json_line

__all__ = ["insist", "log", "watch"]

RETRY = 0.5
"""Seconds between attempts to reach a laboratory that is being started again."""
BLOCK = 1 << 16
"""Bytes received at once."""
MISSED = 10_000
"""Records of the log that are asked for after its restart: as many as it remembers."""


def _followed(folder, name: str, greeting: str, begin=lambda: None):
    """Yield what the laboratory sends on a socket, across its restarts, as pairs: (True, what `begin()` returns) as
    soon as it sends, then (False, value). OutputFailed when nobody reads
    the output any more, although there may be nothing to print."""
    waiting = _Waiting()
    while True:
        with suppress(OSError, KairosError), dialled(state_of(folder) / name) as connection:
            connection.sendall(f"ARTIQ {greeting}\n".encode())
            yield True, begin()
            waiting.end()
            for line in _lines(connection):
                yield False, pyon.decode(line.decode())
        if not _is_read(0):
            raise OutputFailed(BrokenPipeError())
        waiting.go_on()


def insist(folder, call):
    """Return `call(lab)`, which changes nothing and so may be repeated, of a laboratory that may be started again
    meanwhile."""
    waiting = _Waiting()
    while True:
        with suppress(LaboratoryOffline):
            found = call(connect(folder))
            waiting.end()
            return found
        waiting.go_on()


class _Waiting:
    """Waiting for a laboratory that does not answer, which is said once."""

    def __init__(self):
        self._is_reported = False

    def go_on(self):
        if not self._is_reported:
            print_notice("the laboratory does not answer; it is waited for")
        self._is_reported = True
        time.sleep(RETRY)

    def end(self):
        if self._is_reported:
            print_notice("the laboratory is back")
        self._is_reported = False


def _lines(connection: socket.socket):
    """Yield the lines that arrive, until the connection or the output is closed."""
    begun = bytearray()
    while _is_read(None, connection) and (block := connection.recv(BLOCK)):
        *whole, rest = block.split(b"\n")
        for line in whole:
            yield bytes(begun + line)
            begun.clear()
        begun += rest


def _is_read(timeout: int | None, *connections) -> bool:
    """Wait until something arrives at a connection, for at most `timeout` ms; returns whether the output is still
    read."""
    poll = select.poll()
    for connection in connections:
        poll.register(connection, select.POLLIN)
    with suppress(OSError, ValueError, AttributeError):  # there may be none
        poll.register(output := sys.stdout.fileno(), 0)
        return not any(number == output and event & select.POLLERR for number, event in poll.poll(timeout))
    poll.poll(timeout)
    return True


def log(args):
    """Print the newest records of the log, and follow it if requested."""
    lab = connect(args.lab)
    if not args.follow:
        records = lab.log(args.number)
        _print_records(records, args.json)
        if not (records or args.json) and args.number:
            print("nothing was logged yet")
        return
    last, known, asked = None, set(), args.number

    def newest():
        return [tuple(record) for record in connect(args.lab).log(asked)]

    for has_begun, found in _followed(args.lab, BROADCAST, "broadcast\nlog", newest):
        if has_begun:
            new = found[found.index(last) + 1 :] if last in found else found
            known, asked = set(found), MISSED
        else:
            # Those that were logged just before are in both.
            new = [record for record in [tuple(found)] if record not in known]
        _print_records(new, args.json)
        last = new[-1] if new else last


def _print_records(records, as_json: bool):
    for record in records:
        _print_record(record, as_json)


def _print_record(record, as_json: bool):
    level, source, moment, text = record
    if as_json:
        print(json.dumps({"level": level, "source": source, "time": moment, "text": text}), flush=True)
    else:
        name = logging.getLevelName(level)
        print(record_lines(f"{time.strftime('%H:%M:%S', time.localtime(moment))} {name} {source}", text), flush=True)


def watch(args):
    """Print datasets whenever they change, by default all, until interrupted; the first output is
    their present state."""
    connect(args.lab)
    datasets: dict = {}
    start = ""
    for has_begun, change in _followed(args.lab, NOTIFY, f"sync_struct\ndatasets {NUMBERS}"):
        if has_begun:
            continue
        if change["action"] == "init":
            datasets, start = change["struct"], change["start"]
            changed = set(datasets)
            if sys.stdout.isatty() and not (changed & set(args.keys) if args.keys else changed):
                print_notice(f"no dataset{' of these' if args.keys else ''} yet; waiting")
        else:
            path = change["path"]
            if path:
                datasets[path[0]] = list(datasets[path[0]])  # to be changed in its elements
            apply_change(datasets, change)
            changed = {path[0] if path else change["key"]}
        for key in sorted(changed & set(args.keys) if args.keys else changed):
            if args.json:
                numbers = {"number": change["number"], "start": start}
                print(json_line({"key": key, **_described(datasets.get(key)), **numbers}), flush=True)
            else:
                print(f"{key}: {_text(datasets.get(key))}", flush=True)


def _described(dataset) -> dict:
    if dataset is None:
        return {"pyon": None}
    persist, value, metadata = dataset
    return {"pyon": pyon.encode(value), "persist": persist, "metadata": metadata}


def _text(dataset) -> str:
    if dataset is None:
        return "deleted"
    _, value, metadata = dataset
    return Quantity.of(metadata).text(value, sys.stdout.isatty())
