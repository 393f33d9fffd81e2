"""``kairos runs verify``: repeats a run from its result file on the twin, and compares.

The file has everything that the run depended on (`kairos.cli.provenance`). What is the same has the
same hash; the waveform is then the same, too, to the nanosecond, which is what this shows.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from .. import emulator, pyon
from ..cli.provenance import hash_of
from ..cli.waveforms import file_of
from ..devices import DeviceDB
from ..errors import UsageError
from ..experiment.datasets import DatasetDB
from ..scratch import ScratchFolder
from ..waveform.difference import differences
from ..waveform.stored import GROUP, unpacked
from .rehearsal import Rehearsal, Twin
from .verdict import sentence

__all__ = ["verify"]

NAMES = {"imported", "hash", "status"}


def verify(args) -> int:
    """Repeat the run of the command line; returns 1 if something differs."""
    path = file_of(args.run, args.lab)
    found = _compared(path)
    if args.json:
        print(json.dumps(found))
    else:
        for line in found["differences"]:
            print(line)
        if found["same"]:
            print(
                f"the same: {found['events']:,} events of the pins, {found['datasets']} datasets; hash {found['hash']}"
            )
    return int(not found["same"])


def _compared(path: Path) -> dict[str, Any]:
    file = _read(path)
    provenance, recording = file["provenance"], file["waveform"]
    repeated, now = _repeated(file)
    lines = []
    if provenance.get("hash") not in (None, hash_of({**provenance, **file["imported"]})):
        lines.append("the hash in the file is not that of its content")
    for name in ("emulator", "firmware", "gateware", "kernels", "kairos_version", "bench", "parameters"):
        if provenance.get(name, "") != now.get(name, ""):
            lines.append(f"{name}: not what the run had")
    if repeated.failure is not None:
        lines.append(f"repeated, it {sentence(repeated)}")
    if recording is not None and repeated.recording is not None:
        lines += [each.text for each in differences(recording, repeated.recording)]
    elif (recording is None) != (repeated.recording is None):
        lines.append("only one of both has a waveform")
    for key in sorted({*file["datasets"], *repeated.datasets}):
        if not _equal(file["datasets"].get(key), repeated.datasets.get(key)):
            lines.append(f"dataset {key}: not what the run had")
    events = 0 if recording is None else recording.event_count
    return {
        "same": not lines,
        "hash": provenance.get("hash"),
        "events": events,
        "datasets": len(file["datasets"]),
        "differences": lines,
    }


def _read(path: Path) -> dict[str, Any]:
    """Return what a result file has; UsageError if it is none of ours."""
    import h5py  # imported late: it takes 0.1 s

    try:
        with h5py.File(path) as file:
            if "provenance" not in file or "expid" not in file:
                raise UsageError(f"{path} does not say how it was made: it is not the file of a run of Kairos")
            group = file["provenance"]
            texts = {name: group[name].asstr()[()] for name in group if hasattr(group[name], "dtype")}
            imported: dict[str, str] = {}
            if "imported" in group:
                group["imported"].visititems(
                    lambda name, item: (
                        imported.update({f"imported/{name}": item.asstr()[()]}) if hasattr(item, "dtype") else None
                    )
                )
            datasets: dict[str, Any] = {}
            file["datasets"].visititems(
                lambda name, item: datasets.update({name: item[()]}) if hasattr(item, "dtype") else None
            )
            waveform = unpacked(file[GROUP]) if GROUP in file else None
            expid = pyon.decode(file["expid"][()].decode())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or 'it is no HDF5 file'}") from None
    return {"provenance": texts, "imported": imported, "datasets": datasets, "waveform": waveform, "expid": expid}


def _repeated(file: dict) -> tuple[Rehearsal, dict[str, str]]:
    provenance, expid = file["provenance"], file["expid"]
    scratch = ScratchFolder("kairos-verify-")
    try:
        folder = scratch.path
        texts = {name.removeprefix("imported/"): text for name, text in file["imported"].items()}
        experiment = folder / Path(expid["file"]).name
        texts |= {experiment.name: provenance["experiment"], "device_db.py": provenance["device_db"]}
        if "bench" in provenance:
            texts["bench.toml"] = provenance["bench"]
        for name, text in texts.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        ddb = DeviceDB.load(folder / "device_db.py")
        host = ddb.arguments("core").get("host")
        if host is not None and not emulator.is_emulated(host):
            raise UsageError("the run was not on an emulated device: it cannot be repeated")
        datasets = DatasetDB()
        for key, value in pyon.decode(provenance.get("parameters", "{}")).items():
            datasets.set(key, value)
        bench = str(folder / "bench.toml") if "bench" in provenance else None
        with Twin(ddb, bench) as twin:
            found = twin.rehearse(
                str(experiment), expid["class_name"], pyon.decode(provenance["arguments"]), datasets, provenance=True
            )
        return found, found.provenance
    finally:
        scratch.close()


def _equal(stored, value) -> bool:
    if stored is None or value is None:
        return stored is value
    if isinstance(stored, bytes):
        return stored.decode() == (value if isinstance(value, str) else pyon.encode(value))
    return bool(np.array_equal(np.asarray(stored), np.asarray(value), equal_nan=np.asarray(stored).dtype.kind in "fc"))
