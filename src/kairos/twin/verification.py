"""``kairos runs verify``: repeats a run from its result file on the twin, and compares.

The file has everything that the run depended on (`kairos.cli.provenance`). What is the same has the
same hash; the waveform is then the same, too, to the nanosecond, which is what this shows.
"""

import json
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .. import emulator, pyon, resultfiles
from ..cli.provenance import CODE, hash_of
from ..cli.waveforms import file_of, no_waveform, waveform_of
from ..devices import database_of
from ..emulator.registers import state_of
from ..errors import UsageError
from ..experiment.datasets import DatasetDB
from ..experiment.hdf5 import stored, texts_of
from ..scratch import ScratchFolder
from ..waveform import chips
from ..waveform.difference import differences
from ..waveform.stored import GROUP, unpacked
from .rehearsal import Rehearsal, Twin
from .verdict import sentence

__all__ = ["compared", "predicted", "verify"]

ENDED_BY_ITSELF = ("completed", "failed")
"""Statuses of runs whose ends are repeated."""
ADDRESS = re.compile(rb" at 0x[0-9a-f]+")
"""Of an object, in the text that stands for it."""
PREDICTED = "twin"
"""Source of a waveform that was not recorded, but predicted."""


def verify(args) -> int:
    """Repeat the run of the command line; returns 1 if something differs."""
    path = file_of(args.run, args.lab)
    found = compared(path)
    if args.json:
        print(json.dumps(found))
    else:
        for line in found["differences"]:
            print(line)
        if found["same"]:
            print(_same(found))
    return int(not found["same"])


def _same(found: dict[str, Any]) -> str:
    if found["predicted"]:
        return (
            f"the same: {found['events']:,} events of the pins, as predicted (data are not compared: its device had "
            f"run before); hash {found['hash']}"
        )
    return f"the same: {found['events']:,} events of the pins, {found['datasets']} datasets; hash {found['hash']}"


def compared(path: Path) -> dict[str, Any]:
    """Repeat the run with this file; returns whether it is the `same`, the `differences`, a line each, numbers of
    `events` and `datasets` that were compared, whether its waveform was `predicted`, and the `hash` in the file.
    KairosError."""
    file = _read(path)
    provenance, recording = file["provenance"], file["waveform"]
    predicted_before = file["source"] == PREDICTED
    if (status := provenance.get("status", "completed")) not in ENDED_BY_ITSELF:
        raise UsageError(f"{path}: its run was {status}, where it would not end again: use 'kairos replay'")
    if recording is None and provenance.get("kernels"):
        raise no_waveform(path)
    with _repeated(file) as (repeated, device):
        now, registers = repeated.provenance, {}
        if file["chips"] and device is not None and device.is_alive():
            registers = state_of(device)[0]
    lines = []
    if provenance.get("hash") not in (None, hash_of({**provenance, **file["imported"]})):
        lines.append("the hash in the file is not that of its content")
    for name in ("emulator", "firmware", "gateware", "kairos_version", "bench", "parameters"):
        is_of_device = name in ("emulator", "firmware", "gateware", "bench")
        if is_of_device and predicted_before and name not in provenance:
            continue  # a device of hardware
        if provenance.get(name, "") != now.get(name, ""):
            lines.append(f"{name}: not what the run had")
    lines += _kernels(*(each.get("kernels", "").splitlines() for each in (provenance, now)))
    failure = "" if repeated.failure is None else sentence(repeated, with_duration=False)
    if file["failed"] and not failure:
        lines.append("repeated, it does not fail")
    elif failure != file["failure"] and not file["failed"]:
        lines.append(f"repeated, it {failure or 'does not fail'}")
    if recording is not None and not file["complete"]:
        lines.append("its waveform ends before the run: predicting it has taken longer than allowed")
    elif recording is not None and repeated.recording is not None:
        lines += [each.text for each in differences(recording, repeated.recording)]
        lines += [each.text for each in chips.changed(file["chips"], registers)]
    elif (recording is None) != (repeated.recording is None):
        lines.append("only one of both has a waveform")
    if not predicted_before:
        lines += _datasets(file["datasets"], repeated)
    events = 0 if recording is None else recording.event_count
    return {
        "same": not lines,
        "hash": provenance.get("hash"),
        "events": events,
        "datasets": 0 if predicted_before else len(file["datasets"]),
        "predicted": predicted_before,
        "differences": lines,
    }


def _kernels(before: list[str], after: list[str]) -> list[str]:
    """Return what differs between the kernels of two runs, given by their hashes. Hashes of files from before
    `CODE` depend on the paths of the sources: of those only the number is comparable."""
    if len(before) != len(after):
        return [f"kernels: the run had {len(before)}, repeated it has {len(after)}"]
    pairs = zip(before, after, strict=True)
    other = [number for number, (one, two) in enumerate(pairs, 1) if one.startswith(CODE) and one != two]
    return [f"kernels: not what the run had: {', '.join(f'number {number}' for number in other)}"] if other else []


def _read(path: Path) -> dict[str, Any]:
    """Return what a result file has; UsageError if it is none of ours."""
    with resultfiles.opened(path) as file:
        group = resultfiles.group_of(file, "provenance")
        if group is None or "expid" not in file:
            raise UsageError(f"{path} does not say how it was made: it is not the file of a run of Kairos")
        texts = {name: resultfiles.text(group[name]) for name in group if hasattr(group[name], "dtype")}
        if missing := {"experiment", "device_db", "arguments"} - set(texts):
            raise UsageError(f"{path} cannot be repeated: it lacks provenance/{min(missing)}")
        imported: dict[str, str] = {}
        if (sources := resultfiles.group_of(group, "imported")) is not None:
            imported = {f"imported/{name}": text for name, text in texts_of(sources).items()}
        datasets = {
            name: resultfiles.value(item) for name, item in resultfiles.datasets(resultfiles.group_of(file, "datasets"))
        }
        expid = pyon.decode(resultfiles.text(file["expid"]))
        # Some name their datasets by it.
        rid = int(resultfiles.value(file["rid"])) if "rid" in file else 0
        found = {"provenance": texts, "imported": imported, "datasets": datasets, "expid": expid, "rid": rid}
        return found | _waveform(file)


def _waveform(file) -> dict[str, Any]:
    """Return what a file says of the waveform, and of the twin that has predicted it."""
    if (group := resultfiles.group_of(file, GROUP)) is None:
        nothing = {"waveform": None, "source": None, "chips": {}, "twin": {}}
        return {**nothing, "complete": True, "failed": False, "failure": ""}
    return {
        "waveform": unpacked(group),
        "chips": chips.unpacked(group),
        "source": resultfiles.text(group["source"]),
        "complete": resultfiles.flag(group, "complete"),
        "failed": resultfiles.flag(group, "failed", absent=False),
        "failure": resultfiles.text_of(group, "failure"),
        "twin": {name: resultfiles.text(group[name]) for name in ("url", "bench") if name in group},
    }


def predicted(
    path: Path, twin: dict, within_s: float | None = None, longest_s: float | None = None
) -> dict[str, Any] | None:
    """Return the waveform that the twin predicts for the run with this file, as values of its group (see
    `kairos.waveform.stored`) with `complete` (whether it is that of the whole run), `failure` (in which the
    twin ends), and for a device that is not emulated the `url` and the `bench` of its twin; None if the run
    had no kernels. `within_s`, `longest_s`: see `Twin.rehearse`.
    `twin`: `url` and `bench` (a path) of the twin, None: none. KairosError."""
    file = _read(path)
    more: dict[str, str] = {}
    if not file["provenance"].get("kernels"):
        return None
    if not twin["emulated"]:
        if twin["url"] is None:
            raise UsageError("the core device is not emulated, and 'twin' under [rehearsal] in lab.toml names no twin")
        bench = {} if twin["bench"] is None else {"bench": Path(twin["bench"]).read_text()}
        more = {"url": twin["url"], **bench}
    with _repeated({**file, "twin": more}, within_s, longest_s) as (repeated, device):
        if repeated.recording is None:
            raise UsageError(f"it {sentence(repeated, with_duration=False)}")
        found = waveform_of(repeated.recording, device, PREDICTED)
        failure = "" if repeated.failure is None else sentence(repeated, with_duration=False)
    return {**found, **more, "complete": not repeated.stopped, "failure": failure}


@contextmanager
def _repeated(
    file: dict, within_s: float | None = None, longest_s: float | None = None
) -> Iterator[tuple[Rehearsal, Any]]:
    """Context of the repetition of a run, and of the emulated device that has run it."""
    provenance, expid, twin = file["provenance"], file["expid"], file["twin"]
    bench = provenance.get("bench", twin.get("bench"))
    scratch = ScratchFolder("kairos-verify-")
    try:
        folder = scratch.path
        texts = {name.removeprefix("imported/"): text for name, text in file["imported"].items()}
        experiment = folder / _place(expid)
        texts[str(_place(expid))] = provenance["experiment"]
        if bench is not None:
            texts["bench.toml"] = bench
        for name, text in texts.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        ddb = database_of(provenance, folder)
        host = ddb.arguments("core").get("host")
        if host is not None and not emulator.is_emulated(host) and "url" not in twin:
            raise UsageError("the run was not on an emulated device: it cannot be repeated")
        datasets = DatasetDB()
        for key, value in pyon.decode(provenance.get("parameters", "{}")).items():
            datasets.set(key, value)
        sys.path.insert(0, str(folder))  # for what is imported from the root of a repository
        with Twin(ddb, None if bench is None else str(folder / "bench.toml"), twin.get("url")) as used:
            found = used.rehearse(
                str(experiment),
                expid.get("class_name"),
                pyon.decode(provenance["arguments"]),
                datasets,
                within_s,
                provenance=True,
                longest_s=longest_s,
                rid=file["rid"],
            )
            yield found, used.device
    finally:
        if str(scratch.path) in sys.path:
            sys.path.remove(str(scratch.path))
        scratch.close()


def _place(expid: dict) -> Path:
    """Return where the experiment is: in a repository at its place, so that it finds what it imports."""
    named = Path(expid.get("file", "experiment.py"))
    inside = not named.is_absolute() and ".." not in named.parts
    return named if inside else Path(named.name)


def _datasets(before: dict, repeated: Rehearsal) -> list[str]:
    """Return which datasets differ, in the form that both have in a file."""
    said = logging.getLogger(stored.__module__)
    was_disabled, said.disabled = said.disabled, True  # of what cannot be stored as it is, the run has told
    try:
        now = stored({key: repeated.datasets[key] for key in repeated.metadata})
    finally:
        said.disabled = was_disabled
    different = [key for key in sorted({*before, *now}) if not _equal(before.get(key), now.get(key))]
    return [f"dataset {key}: not what the run had" for key in different]


def _equal(one, other) -> bool:
    if one is None or other is None:
        return one is other
    if isinstance(one, bytes) and isinstance(other, bytes):
        return ADDRESS.sub(b"", one) == ADDRESS.sub(b"", other)
    one, other = np.asarray(one), np.asarray(other)
    return bool(one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))
