"""``kairos hub``: clocks and waveforms of devices."""

import json
import time

from .. import files
from ..waveform.table import aligned
from .hub_lab import named, open_lab
from .outputs import table_limit
from .tables import print_aligned

__all__ = ["clocks", "waveform"]

COLUMNS = ("time / mu", "slack / mu", "kind", "channel", "name", "address", "data")


def clocks(args):
    """Print the clocks of devices, as a table or as JSON; exit code 1 if one is bad."""
    names = [args.device] if args.device is not None else []
    with open_lab(args) as lab:
        if args.follow:
            for when, found in lab.watch_clocks(*names):
                _print_changes(when, found, args.json)
            return 0
        found = lab.wait_for_clocks(*names, timeout=args.wait) if args.wait is not None else lab.clocks(*names)
    if args.json:
        print(json.dumps({name: _as_json(each) for name, each in found.items()}, indent=2))
    else:
        names = ("device", "clock", "frequency", "from", "condition", "")
        rows = [(name, *row) for name, each in found.items() for row in _rows(each)]
        print_aligned(names, rows, 6, "no device reports a clock")
    return int(any(_condition(each) == "bad" for each in found.values()))


def _condition(of) -> str:
    # Requires gRPC; `open_lab` has already reported if it is missing.
    from ..hub.client import CONDITIONS

    return CONDITIONS[of.condition]


def _print_changes(when: float, found: dict, as_json: bool):
    if as_json:
        shown = {name: _as_json(each) for name, each in found.items()}
        print(json.dumps({"time": when, "devices": shown}), flush=True)
        return
    clock = time.strftime("%H:%M:%S", time.localtime(when))
    for name, each in found.items():
        text = f": {each.text}" if each.text else ""
        print(f"{clock}  {name} {_condition(each)}{text}", flush=True)


def _rows(device):
    """Yield a row for each clock; a status row for a device that has none or does not answer."""
    if not device.clocks:
        yield "", "", "", _condition(device), device.text
    for clock in device.clocks:
        used = "" if clock.used else "not used"
        text = "; ".join(filter(None, (clock.text, used)))
        frequency = f"{clock.hertz / 1e6:.3f} MHz" if clock.hertz else "none"
        yield clock.name, frequency, clock.source, _condition(clock), text


def _as_json(device) -> dict:
    keys = ("name", "hertz", "text", "used", "source")
    shown = [{key: getattr(clock, key) for key in keys} for clock in device.clocks]
    for clock, entry in zip(device.clocks, shown, strict=True):
        entry["condition"] = _condition(clock)
    about = {"condition": _condition(device), "text": device.text, "setting": device.setting}
    return {**about, "clocks": shown}


def waveform(args):
    """Print the newest events of a device, save its record, or wait for an event."""
    device, _, channel = args.device.partition("/")
    channels = [channel] if channel else []
    limit = table_limit(args.table, "events")
    with open_lab(args) as lab:
        waveforms = named(lab, device).waveforms
        if args.vcd or args.dump:
            if args.vcd:
                files.write(args.vcd, waveforms.vcd(*channels))
            if args.dump:
                # The same events in both files.
                files.write(args.dump, waveforms.dump(*channels, kept=bool(args.vcd)))
            return
        if args.follow:
            for missing, events in waveforms.follow(*channels, newest=limit or 0):
                _print_events(events, args.json)
                if missing and not args.json:
                    print(f"... {missing:,} events are missing")
            return
        if args.wait is not None:
            kind = None if args.kind == "any" else args.kind
            _, events = waveforms.capture(channel, kind, timeout=args.wait)
        else:
            events = waveforms.read(*channels, newest=limit or 0) if limit != 0 else []
    _print_events(events, args.json)
    if not events and not args.json and limit != 0:
        print("the record is empty: no events have been submitted yet")


def _print_events(events: list, as_json: bool):
    if as_json:
        for event in events:
            print(json.dumps(event._asdict()), flush=True)
        return
    if events:
        rows = [COLUMNS, *(_row(event) for event in events)]
        print("\n".join(aligned(rows)), flush=True)


def _row(event) -> tuple[str, ...]:
    """Absolute times: successive parts of a record have no other common origin."""
    if event.kind == "stopped":
        return f"{event.counter:,}", "", event.kind, "", "", "", ""
    when = event.timestamp or event.counter
    slack = "" if event.slack is None else f"{event.slack:,}"
    address = f"{event.address:#x}" if event.kind == "output" else ""
    data = f"{event.data:#x}" if event.kind in ("output", "input") else ""
    return f"{when:,}", slack, event.kind, str(event.channel), event.name, address, data
