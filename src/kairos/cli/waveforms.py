"""The waveform of a run, and the states of its chips, in its result file."""

import json
from pathlib import Path
from typing import Any

from .. import resultfiles
from ..emulator.registers import state_of
from ..errors import UsageError
from ..labclient import connect
from ..waveform import Recording, chips
from ..waveform.stored import GROUP, packed, unpacked
from .tables import print_table

__all__ = ["chips_of", "file_of", "no_waveform", "read_chips", "read_waveform", "show_chips", "waveform_of"]


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


def no_waveform(path) -> UsageError:
    """Return the error of a file without the pins of its run."""
    return UsageError(
        f"{path} has no waveform: 'kairos run' stores that of an emulated device, and a laboratory that rehearses "
        "([rehearsal] in lab.toml) that of its twin, some time after the run"
    )


def read_waveform(path) -> Recording:
    """Return the pins of a run from its file; UsageError if it has none."""
    with resultfiles.opened(path) as file:
        if (group := resultfiles.group_of(file, GROUP)) is None:
            raise no_waveform(path)
        return unpacked(group)


def read_chips(path) -> dict[str, int]:
    """Return what was in the registers of the chips at the end of a run, from its file; empty if it says nothing
    of them. UsageError."""
    with resultfiles.opened(path) as file:
        group = resultfiles.group_of(file, GROUP)
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
