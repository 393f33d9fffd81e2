"""The waveform of a run in its result file, and ``kairos runs diff``, which compares those of two runs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .. import resultfiles
from ..emulator.registers import state_of
from ..errors import UsageError
from ..labclient import connect
from ..waveform import Recording, chips
from ..waveform.difference import RENAMED, differences
from ..waveform.stored import GROUP, RECORDED, packed, unpacked
from .printed import print_notice
from .tables import print_table

__all__ = [
    "Compared",
    "chips_of",
    "compared",
    "diff",
    "file_of",
    "no_waveform",
    "read_chips",
    "read_waveform",
    "show_chips",
    "waveform_of",
]

OF_DEVICE = {
    "kairos_version": "versions of Kairos",
    "gateware": "gateware",
    "firmware": "firmware",
    "device_db": "device databases",
    "bench": "benches",
}
"""Parts of a run's origin that are told if they differ, by their names in its file."""
SHOWN = 40
"""Differences that are printed."""


def waveform_of(recording: Recording, device, source: str = "emulator") -> dict[str, Any]:
    """Return the waveform of a run on an emulated device, with its `source`: its pins, and with ``tones/`` and
    ``volts/`` before their names what comes out of its synthesisers (time in ns since power-up, Hz, dBm, turns)
    and converters (time, volts); and the state of its chips at the end, see `kairos.waveform.chips`."""
    found = packed(recording, source)
    if not device.has_bench:
        return found
    import numpy as np  # imported late: it takes 0.15 s, in which a device boots

    registers, plan = state_of(device)
    if registers:
        found |= chips.packed(registers, plan)
    for part in plan.get("parts", ()):
        kinds = [*["tones"] * part["tones"], *["volts"] * part["volts"]]
        names = {number: output for output, number in part["names"].items()}
        for output, kind in enumerate(kinds):
            rows = device.control.request(kind, part=part["name"], output=output)[kind]
            if rows:
                first = 0 if kind == "tones" else part["tones"]
                name = names.get(output, f"ch{output - first}")
                values = [[np.nan if value is None else value for value in row] for row in rows]
                found[f"{kind}/{part['name']}.{name}"] = np.array(values, float)
    return found


def file_of(named: str, folder: str | None) -> Path:
    """Return the result file of a run: its number in a laboratory, or the file itself. UsageError."""
    if not named.isdecimal():
        if not Path(named).exists():
            raise UsageError(f"there is no file {named}")
        return Path(named)
    lab = connect(folder)
    results = lab.run(int(named))["results"]
    if not results:
        raise UsageError(f"run {named} has no file of results")
    return Path(lab.status()["results"]) / results


def no_waveform(path, name: str = GROUP) -> UsageError:
    """Return the error of a file without the pins of its run."""
    if name == RECORDED:
        return UsageError(f"{path} has no recorded waveform: a laboratory stores that of its emulated device")
    return UsageError(
        f"{path} has no waveform: 'kairos run' stores that of an emulated device, and a laboratory that rehearses "
        "([rehearsal] in lab.toml) that of its twin, some time after the run"
    )


def read_waveform(path, name: str = GROUP) -> Recording:
    """Return the pins of a run from its file; UsageError if it has none. `name`: of the group."""
    with resultfiles.opened(path) as file:
        if (group := resultfiles.group_of(file, name)) is None:
            raise no_waveform(path, name)
        return unpacked(group)


def read_chips(path, name: str = GROUP) -> dict[str, int]:
    """Return what was in the registers of the chips at the end of a run, from its file; empty if it says nothing
    of them. UsageError."""
    with resultfiles.opened(path) as file:
        group = resultfiles.group_of(file, name)
        return {} if group is None else chips.unpacked(group)


def chips_of(path, cards=()) -> tuple[dict[str, int], dict[str, str]]:
    """Return what was in the registers of the chips at the end of a run, those of `cards` or all, and the devices that
    stand for the cards (see `kairos.waveform.chips.devices_of`). UsageError if the file does not say it."""
    found = read_chips(path)
    if not found:
        read_waveform(path)  # whose message says what is missing, if it is that
        raise UsageError(f"{path} has no state of chips: the device had none, or the file is from before it was stored")
    known = dict.fromkeys(name.partition(".")[0] for name in found)
    if unknown := [name for name in cards if name not in known]:
        raise UsageError(f"the run has no card {unknown[0]}; it has {', '.join(known)}")
    with resultfiles.opened(path) as file:
        devices = chips.devices_of(resultfiles.group_of(file, GROUP))
    return {name: value for name, value in found.items() if not cards or name.partition(".")[0] in cards}, devices


def show_chips(args):
    """Print the state of the chips at the end of a run. UsageError."""
    found, _ = chips_of(file_of(args.run, args.lab), args.cards)
    if args.json:
        print(json.dumps(found))
    else:
        rows = ((name, f"{value:#x}") for name, value in found.items())
        print_table(("register", "value"), rows, "its device has no chip")


class Compared(NamedTuple):
    """What differs between two runs."""

    found: list
    """`Difference` of their pins, and `Changed` of their chips"""
    differs: bool
    """Whether it is more than names"""
    events: int
    """Events of the first run"""
    notices: list[str]
    """What explains differences"""


def compared(paths: Sequence[Path], name: str = GROUP) -> Compared:
    """Return what differs between the waveforms in the files of two runs, and between the states of their chips at the
    end. `name`: of the group. UsageError if one has none."""
    one, other = (read_waveform(path, name) for path in paths)
    states = [read_chips(path, name) for path in paths]
    # A file from before they were stored says nothing.
    found = [*differences(one, other), *(chips.changed(*states) if all(states) else ())]
    differs = any(getattr(each, "kind", "") != RENAMED for each in found)
    return Compared(found, differs, one.event_count, _notices(*(_origin(path, name) for path in paths)))


def diff(args) -> int:
    """Print what differs between the waveforms of two runs, and between the states of their chips at the end;
    returns 1 if something does."""
    paths = [file_of(named, args.lab) for named in (args.run, args.other)]
    found, differs, events, notices = compared(paths, RECORDED if args.recorded else GROUP)
    for line in notices:
        print_notice(f"kairos: {line}")
    if args.json:
        for each in found:
            print(json.dumps(each.described()))
        return int(differs)
    for each in found[:SHOWN]:
        print(each.text)
    if len(found) > SHOWN:
        print(f"... and {len(found) - SHOWN:,} more (--json lists all)")
    if not differs:
        print(f"the waveforms are the same: {events:,} events")
    return int(differs)


def _origin(path, name: str) -> dict[str, str]:
    """Return what a file says of its run's origin, by name, and as `end` whether the waveform is that of all of it."""
    with resultfiles.opened(path) as file:
        group = resultfiles.group_of(file, "provenance")
        found = {} if group is None else {name: resultfiles.text(group[name]) for name in OF_DEVICE if name in group}
        return found | {"end": "" if resultfiles.flag(file[name], "complete") else "no"}


def _notices(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Return what explains differences, from what the files say of the origins of their runs."""
    found = [
        f"the waveform of the {which} run ends before the run: predicting it has taken longer than allowed"
        for which, origin in (("first", one), ("second", other))
        if origin["end"]
    ]
    others = [text for name, text in OF_DEVICE.items() if name in one and name in other and one[name] != other[name]]
    return [*found, *([f"the runs had other {', '.join(others)}"] if others else [])]
