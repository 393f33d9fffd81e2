"""Fits of live datasets and of runs that have ended; results are stored with the run.

They are computed in a process of their own (`kairos.fits.process`), one after the other.
"""

import json
from pathlib import Path

from .. import files, resultfiles
from ..controllers.publishing import Publication
from ..errors import UsageError
from ..fits import Fit
from ..fits.process import Fitter
from . import history
from .database import Database
from .journal import Record
from .live import LiveDatasets
from .results import synchronised

__all__ = ["Fits"]

MOST = 5000
"""Points that are fitted; of more, every n-th."""


class Fits:
    """The fits of a laboratory with its results in the folder `results`."""

    def __init__(self, datasets: LiveDatasets, database: Database, results: Path):
        self._datasets, self._database, self._results = datasets, database, results
        self._fitter = Fitter()
        self.declared: dict[tuple[int, str], dict] = {}
        """By run and name, of the runs in progress."""
        self.publication = Publication(lambda: self.declared)
        datasets.handlers["fit"] = self.take

    def take(self, rid: int, record: Record):
        """Take the declaration of a run."""
        self.declared[rid, record.key] = record.more
        self.publication.changed([])

    def ended(self, rid: int):
        """Forget the fits of a run."""
        gone = [key for key in self.declared if key[0] == rid]
        for key in gone:
            del self.declared[key]
        if gone:
            self.publication.changed([])

    async def now(self, fit: dict) -> Fit:
        """Fit live datasets. `fit`: `shape`, `y`, `x`, `error`, `initial`, `fixed`."""
        missing = next((fit[name] for name in ("y", "x", "error") if fit[name] and not self._has(fit[name])), None)
        if missing is not None:
            return Fit(fit["shape"], {}, {}, problem=f"there is no dataset {missing}")
        return await self._fitted(fit, lambda key: self._datasets.values[key][1])

    def _has(self, key: str) -> bool:
        return key in self._datasets.values

    async def of_run(self, rid: int, fit: dict) -> Fit:
        """Fit datasets of a run that has ended; UsageError if it has none."""
        return await self._fitted(fit, self._stored(rid).__getitem__)

    def _stored(self, rid: int) -> dict:
        record = history.shown(self._database, rid)
        if not record["results"]:
            raise UsageError(f"run {rid} has no datasets")
        return _Datasets(self._results / record["results"])

    async def _fitted(self, fit: dict, value) -> Fit:
        if not fit["y"]:
            raise UsageError("a fit needs the name of a dataset")
        columns = []
        for name in ("y", "x", "error"):
            given = value(fit[name]) if fit[name] else None
            if given is not None and (not hasattr(given, "__len__") or getattr(given, "ndim", 1) == 0):
                return Fit(fit["shape"], {}, {}, problem=f"{fit[name]} is no list of numbers")
            columns.append(given)
        length = min(len(each) for each in columns if each is not None)
        every = max(1, -(-length // MOST))
        try:
            columns = [None if each is None else [float(v) for v in each[:length:every]] for each in columns]
        except (TypeError, ValueError, OverflowError):
            return Fit(fit["shape"], {}, {}, problem="the datasets are no lists of numbers")
        if columns[1] is None:
            columns[1] = [float(number) for number in range(0, length, every)]
        return await self._fitter.fit(fit["shape"], *columns, fit["initial"] or None, fit["fixed"] or None)

    async def keep(self, rid: int, name: str, fit: dict) -> Fit:
        """Fit datasets of a run that has ended, and store the result with the run, in its record and
        in the index; UsageError if it fails."""
        result = await self.of_run(rid, fit)
        if result.problem:
            raise UsageError(result.problem)
        path = (self._results / history.shown(self._database, rid)["results"]).with_suffix(".json")
        record = history.record_in(path, self._results) if path.exists() else None
        if record is None:
            record = history.record_in(path.with_suffix(".h5"), self._results)
        if record is None:
            raise UsageError(f"the record of run {rid} cannot be read")
        described = {**result.described(), "y": fit["y"], "x": fit["x"] or None}
        record["fits"] = {**(record.get("fits") or {}), name or fit["y"]: described}
        files.write(path, (json.dumps(record, indent=1) + "\n").encode())
        synchronised(path)
        with self._database.change() as change:
            history.enter(change, [record])
        return result

    async def close(self):
        """End the process."""
        await self._fitter.close()


class _Datasets:
    """The datasets in a run's file, by key; KeyError."""

    def __init__(self, path: Path):
        self._path = path

    def __getitem__(self, key: str):
        with resultfiles.opened(self._path) as file:
            found = (resultfiles.group_of(file, "datasets") or {}).get(key)
            if found is None or not hasattr(found, "dtype"):
                raise UsageError(f"{self._path.name} has no dataset {key}")
            return resultfiles.value(found)
