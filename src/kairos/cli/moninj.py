"""``kairos moninj``: watch pins, take them over and give them back."""

import json
import time
from pathlib import Path

from ..contracts.moninj import Report
from ..devices import DeviceDB
from ..errors import UsageError
from ..network.moninj import PORT, MonInj, Override
from .address import address_of

__all__ = ["release", "set_level", "watch"]

CONFIRMED = 5.0
"""Seconds in which a device confirms what was set."""


def watch(args):
    """Print the levels of the pins that the command line `args` names, and each change."""
    names = _channels(args)
    device = MonInj(*address_of(args, PORT))
    for channel in names:
        device.watch(channel)
    began = time.monotonic()
    while args.seconds is None or (left := began + args.seconds - time.monotonic()) > 0:
        seen = device.next(None if args.seconds is None else left)
        if seen is not None and seen.kind == Report.PROBE and seen.channel in names:
            name = names[seen.channel]
            told = json.dumps({"name": name, "channel": seen.channel, "value": seen.value})
            print(told if args.json else f"{name}: {seen.value}", flush=True)
    device.close()


def set_level(args):
    """Take pins over with a level."""
    level = int(args.level)
    # The level first: the pin does not move twice.
    _inject(args, {Override.LEVEL: level, Override.OUTPUT_ENABLE: 1, Override.ENABLE: 1})


def release(args):
    """Give pins back."""
    _inject(args, {Override.ENABLE: 0})


def _inject(args, values: dict[Override, int]):
    names = _channels(args)
    device = MonInj(*address_of(args, PORT))
    for channel in names:
        for override, value in values.items():
            device.inject(channel, override, value)
    for channel, name in names.items():
        device.ask(channel, Override.ENABLE)
        seen = device.next(CONFIRMED)
        if seen is None or seen.value != values[Override.ENABLE]:
            raise UsageError(f"'{name}' has nothing that could be set by hand: it is no TTL")
    device.close()


def _channels(args) -> dict[int, str]:
    """Names of the channels, by number."""
    database = DeviceDB.load(args.device_db) if Path(args.device_db).exists() or not args.device else None
    return {_channel(name, database): name for name in args.names}


def _channel(name: str, database: DeviceDB | None) -> int:
    try:
        return int(name, 0)
    except ValueError:
        pass
    channel = database.arguments(name).get("channel") if database is not None else None
    if not isinstance(channel, int):
        raise UsageError(f"there is no device '{name}' with a channel in the device database: give its name or number")
    return channel
