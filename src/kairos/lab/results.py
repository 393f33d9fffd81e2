"""The files of a finished run: its datasets as HDF5 in ARTIQ's layout, its output, and a record for the index.

They are next to each other in the folder of the hour: ``NUMBER-CLASS.h5``, ``.log`` and ``.json``.
The record says what the index knows of a run, from which the index can be rebuilt. A journal is
removed only after its files are on the disk.
"""

import json
import os
import re
import shutil
from pathlib import Path

from .. import compat, files, pyon
from ..errors import UsageError
from ..experiment.hdf5 import write_hdf5
from ..runs import NUMBERED, folder_of
from .contents import Contents

__all__ = ["record_of", "store", "store_journal", "stored_name", "write_datasets"]

UNKNOWN = "unknown"
LONGEST = 180
"""Bytes of a class's name in that of a file, which has at most 255."""


def stored_name(rid: int, class_name: str | None) -> str:
    """Return the name of a run's HDF5 file. Its other files differ in the suffix. A class may be called so that no file
    can be, if it was only asked for."""
    name = re.sub(r"\W", "_", class_name or UNKNOWN).encode(errors="replace")[:LONGEST].decode(errors="ignore")
    return NUMBERED.format(rid=rid, name=name)


def write_datasets(path, groups, begin: dict, stage: dict, how: dict, **more: dict | None):
    """Write the datasets of a run, `groups` and what is `more` being what `write_hdf5` takes, with what is known about
    the run; they are on the disk afterwards. UsageError if that is impossible."""
    run = {
        "artiq_version": compat.names.VERSION,
        "rid": begin["rid"],
        "start_time": begin["started"],
        "run_time": stage.get("run_time", begin["started"]),
        "expid": pyon.encode(begin["expid"]),
    }
    sources = {**{name: text for name, text in stage.get("sources", {}).items() if text}, **how}
    write_hdf5(path, groups, run, sources, **more)
    synchronised(path)


def synchronised(path):
    """Have a new file on the disk, and its name in its folder."""
    for place in (path, Path(path).parent):
        number = os.open(place, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def record_of(run: Contents, how: dict) -> dict:
    """Return what the index knows about a run; `how`: the `status` with which it has ended, and
    the `error`."""
    expid = run.begin.get("expid", {})
    return {
        "rid": run.begin.get("rid"),
        "class_name": run.stage.get("class_name") or expid.get("class_name"),
        "file": expid.get("file"),
        "repo_rev": expid.get("repo_rev"),
        "pipeline": run.begin.get("pipeline"),
        "priority": run.begin.get("priority", 0),
        "person": run.begin.get("person"),
        "expid": pyon.encode(expid),
        "arguments": {name: pyon.encode(value) for name, value in (expid.get("arguments") or {}).items()},
        "submitted": run.begin.get("submitted"),
        "started": run.begin.get("started"),
        "run_time": run.stage.get("run_time"),
        "ended": run.last,
        "read": dict(sorted(run.read_at.items())),
        "scalars": run.scalars(),
        "fits": run.fits,
        **how,
    }


def store(folder: Path, run: Contents, how: dict, results, journal_complete: bool = True) -> tuple[dict, Path]:
    """Store the run whose journal and output are in `folder`, unless its own process has stored its
    datasets. Returns its record, and the path of the record's file. The folder is to be removed once
    the index has the run: until then it says, to a laboratory that is started, that the run has been.

    `how`: ``status`` and ``error``. `results`: the folder for the results of all runs.
    """
    rid, started = run.begin["rid"], run.begin["started"]
    place = folder_of(started, results)
    record = record_of(run, how)
    datasets = place / stored_name(rid, record["class_name"])
    if "run" in run.stages or (run.damaged and run.written):
        if not (run.end or {}).get("stored"):
            write_datasets(datasets, run, run.begin, run.stage, {"status": how["status"]})
        record["results"] = str(datasets.relative_to(Path(results).resolve()))
    _store_output(folder, datasets)
    path = datasets.with_suffix(".json")
    _write_record(path, record)
    if not journal_complete:
        _keep_damaged(folder, datasets.with_suffix(".journal"))
    return record, path


def store_journal(folder: Path, run: Contents, how: dict, results) -> dict:
    """Store a run whose datasets cannot be written: its journal, output and record, which is returned."""
    place = folder_of(run.begin["started"], results)
    bare = Contents()
    bare.begin, bare.stage, bare.last = run.begin, run.stage, run.last
    record = record_of(bare, how)
    path = place / stored_name(run.begin["rid"], record["class_name"])
    if path.exists():
        record["results"] = str(path.relative_to(Path(results).resolve()))
    _keep_damaged(folder, path.with_suffix(".journal"))
    _store_output(folder, path)
    _write_record(path.with_suffix(".json"), record)
    return record


def _store_output(folder: Path, datasets: Path):
    if (folder / "output").exists():
        shutil.copyfile(folder / "output", datasets.with_suffix(".log"))
        synchronised(datasets.with_suffix(".log"))


def _write_record(path: Path, record: dict):
    files.write(path, (json.dumps(record, indent=1) + "\n").encode())
    synchronised(path)


def _keep_damaged(folder: Path, path: Path):
    """Keep a journal that could not be read, or not be stored, as a whole."""
    try:
        shutil.copyfile(folder / "journal", path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {files.reason(error)}") from None
    synchronised(path)
