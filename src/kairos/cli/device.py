"""``kairos device``: log, configuration and restart of a core device."""

import json
import re
import sys
from collections.abc import Callable
from functools import wraps

from .. import files
from ..contracts.configuration import KEYS
from ..contracts.management import DESTINATION_LOCAL
from ..network.management import PORT, Management, read_key
from .address import address_of
from .command import suggestion
from .links import destination_of
from .printed import print_notice

__all__ = ["debug", "erase", "flash", "log", "read", "reboot", "remove", "write"]


def _on_device(tool: Callable) -> Callable:
    """Wrap a tool, which takes the management connection and the command line, as a command that
    connects."""

    @wraps(tool)
    def run(args):
        address, key = address_of(args, PORT), read_key(args.key) if args.key else None
        destination = DESTINATION_LOCAL if args.board is None else destination_of(address, args.board, key)
        with Management(*address, key=key, destination=destination) as management:
            tool(management, args)

    return run


@_on_device
def log(management, args):
    """Print the log of the device, or clear it. As JSON: time in seconds, level, source and message
    of each line."""
    if args.action == "clear":
        management.clear_log()
    elif args.json:
        for line in management.log().splitlines():
            print(json.dumps(entry(line)))
    else:
        sys.stdout.write(management.log())


_ENTRY = re.compile(r"\[\s*(?P<time>[\d.]+)s?\]\s*(?P<level>[A-Z]+)\((?P<source>[^)]*)\): ?(?P<message>.*)")


def entry(line: str) -> dict:
    """Split a line of the log into its parts; a line in another format is a message only."""
    found = _ENTRY.fullmatch(line)
    return {**found.groupdict(), "time": float(found["time"])} if found else {"message": line}


@_on_device
def read(management, args):
    """Print values, or write them to files."""
    for key in args.string:
        value = management.config_read(key).decode(errors="replace")
        print(json.dumps({"key": key, "value": value}) if args.json else value)
    for key, path in args.file:
        files.write(path, management.config_read(key))


@_on_device
def write(management, args):
    """Set values, from the command line and from files."""
    for key, _ in (*args.string, *args.file):
        if key.lower() not in KEYS:
            hint = suggestion(key.lower(), KEYS)
            print_notice(f"kairos: '{key}' is stored, but the firmware has no such key{hint}")
    for key, value in args.string:
        management.config_write(key, value.encode())
    for key, path in args.file:
        management.config_write(key, files.read(path))


@_on_device
def remove(management, args):
    """Remove keys."""
    for key in args.keys:
        management.config_remove(key)


@_on_device
def erase(management, _args):
    """Remove all keys."""
    management.config_erase()


@_on_device
def reboot(management, _args):
    """Restart the device."""
    management.reboot()


@_on_device
def flash(management, args):
    """Replace the boot image and restart."""
    management.flash(files.read(args.image))


@_on_device
def debug(management, _args):
    """Make the device log the state of its memory."""
    management.debug_allocator()
