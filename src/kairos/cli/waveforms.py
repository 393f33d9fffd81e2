"""The waveform of a run in its result file, and ``kairos runs diff``, which compares those of two runs."""

import json
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..labclient import connect
from ..waveform import Recording
from ..waveform.difference import differences
from ..waveform.stored import GROUP, packed, unpacked

__all__ = ["diff", "file_of", "read_waveform", "waveform_of"]

SHOWN = 40
"""Differences that are printed."""


def waveform_of(recording: Recording, device) -> dict[str, Any]:
    """Return the waveform of a run on an emulated device: its pins, and with ``tones/`` and ``volts/``
    before their names what comes out of its synthesisers (time in ns since power-up, Hz, dBm, turns)
    and converters (time, volts)."""
    found = packed(recording, "emulator")
    if not device.has_bench:
        return found
    import numpy as np  # imported late: it takes 0.15 s, in which a device boots

    for part in device.control.request("bench")["plan"].get("parts", ()):
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
        return Path(named)
    lab = connect(folder)
    results = lab.run(int(named))["results"]
    if not results:
        raise UsageError(f"run {named} has no file of results")
    return Path(lab.status()["results"]) / results


def read_waveform(path) -> Recording:
    """Return the pins of a run from its file; UsageError if it has none."""
    import h5py  # imported late: it takes 0.1 s

    try:
        with h5py.File(path) as file:
            if GROUP not in file:
                raise UsageError(f"{path} has no waveform: only runs on emulated devices have one")
            return unpacked(file[GROUP])
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or 'it is no HDF5 file'}") from None


def diff(args) -> int:
    """Print what differs between the waveforms of two runs; returns 1 if something does."""
    one, other = (read_waveform(file_of(named, args.lab)) for named in (args.run, args.other))
    found = differences(one, other)
    if args.json:
        for each in found:
            print(json.dumps(vars(each)))
        return int(bool(found))
    for each in found[:SHOWN]:
        print(each.text)
    if len(found) > SHOWN:
        print(f"... and {len(found) - SHOWN:,} more (--json lists all)")
    if not found:
        print(f"the waveforms are the same: {one.event_count:,} events")
    return int(bool(found))
