"""A sweep from beginning to end: what is to be computed, by whom, and where the results go."""

import hashlib
import inspect
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ... import emulator, pyon
from ...cli.arguments import arguments_of
from ...cli.bench import NAME
from ...devices import DeviceDB, whole_text
from ...errors import CommandLineError, UsageError
from ...files import toml_of
from . import results as stored
from .cluster import Cluster
from .journal import Journal
from .pool import Pool, processors
from .search import BATCH, NoSuchObjective, Objective, Search
from .space import Dimension, Space, Uniform
from .task import Task, bench_text, folder_files, resolved, source

__all__ = ["Sweep", "sweep"]


class Sweep:
    """A sweep that can be computed. UsageError for names and values that do not fit."""

    def __init__(
        self,
        file,
        space: Space,
        arguments: dict[str, str] | None = None,
        class_name: str | None = None,
        device_db="device_db.py",
        bench=None,
        twin: str | None = None,
        settings: dict | None = None,
        within_s: float | None = None,
        datasets: dict | None = None,
        goal: Objective | None = None,
        batch: int = BATCH,
    ):
        """arguments: those that do not vary, as typed. bench: the bench file; None: ``bench.toml`` next
        to the device database. within_s: seconds after which a point has failed. goal: what is looked for, if it is a
        search, with `batch` samples at a time."""
        self.space = space
        self._search = None if goal is None else Search(space, goal, batch)
        self.first_error: str | None = None
        """Of the last run: why the first point that failed did so."""
        self.best: dict[str, Any] | None = None
        """What a search has found, see `Search.best`."""
        path = Path(file).resolve()
        if not path.is_file():
            raise UsageError(f"there is no file {file}")
        database = Path(device_db).resolve()
        entries = DeviceDB.load(database).entries  # of what cannot be loaded, one clear line
        host = DeviceDB(entries).arguments("core").get("host")
        self._host = None if host is None else twin or host
        if host is not None and not emulator.is_emulated(twin or host):
            raise UsageError(f"the core device of {device_db} is not emulated: name its twin with --twin")
        beside = database.parent / NAME
        chosen = Path(bench).resolve() if bench is not None else beside if beside.is_file() else None
        if chosen is not None and not chosen.is_file():
            raise UsageError(f"there is no bench file {bench}")
        text = None if chosen is None else bench_text(chosen)
        name, known = arguments_of(str(path), class_name, str(database))
        given = dict(arguments or {})
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise CommandLineError(f"{name} has no argument {unknown[0]}; it takes {', '.join(known) or 'none'}")
        if twice := sorted(set(given) & {each.name for each in space.dimensions}):
            raise CommandLineError(f"{twice[0]} is scanned, and given as {twice[0]}={given[twice[0]]}: leave one out")
        self._bench = {each.name: resolved(each.name, text) for each in space.dimensions if each.name not in known}
        files = folder_files(path.parent)
        files |= _models(chosen, text)
        files[path.name] = source(path)
        self.task = Task(
            files=files,
            file=path.name,
            class_name=name,
            device_db=whole_text(source(database), entries),
            bench=text,
            arguments=given,
            twin=twin,
            settings=settings or {},
            datasets=datasets or {},
            within_s=within_s,
        )

    @property
    def digest(self) -> str:
        """Hash of everything that its results depend on."""
        space = self.space
        scanned = {
            each.name: [each.values.low, each.values.high] if isinstance(each.values, Uniform) else list(each.values)
            for each in space.dimensions
        }
        said = [self.task.digest, scanned, space.repeats, space.samples, space.seed, self._bench]
        if self._search is not None:
            said += [self._search.goal.said(), self._search.batch]
        said = pyon.encode(said)
        return hashlib.sha256(said.encode()).hexdigest()

    def _points(self, numbers: Iterable[int]) -> list[dict]:
        """Return what workers are told, ordered so that those with one bench are together."""
        found = []
        for point in map(self.space.point, numbers):
            bench = {self._bench[name]: value for name, value in point.values.items() if name in self._bench}
            arguments = {name: value for name, value in point.values.items() if name not in self._bench}
            found.append({"number": point.number, "arguments": arguments, "bench": bench, "seed": point.seed})
        return sorted(found, key=lambda each: sorted(each["bench"].items()))

    def _computed(self, finished: dict[int, dict], workers: int, over: str | None, started, check) -> Iterator[str]:
        """Yield the results of the points that are not `finished`, as they are; whoever takes them adds them there."""
        pool = None
        try:
            for numbers in self._search.batches(finished) if self._search else [range(self.space.size)]:
                left = [number for number in numbers if number not in finished]
                if left and pool is None:
                    pool = Pool(self.task, workers, started, check) if over is None else self._cluster(over, check)
                if left:
                    yield from pool.compute(self._points(left))
        finally:
            if pool is not None:
                pool.close()

    def _cluster(self, over: str, check) -> Cluster:
        return Cluster(over, self.task, self._host, check)

    def run(
        self,
        output,
        workers: int | None = None,
        over: str | None = None,
        progress: Callable[[int, int], None] | None = None,
        started: Callable[[int], None] | None = None,
    ) -> tuple[int, int]:
        """Compute all points and write the file `output`. Returns how many points were computed now,
        and how many have failed. A sweep that was interrupted goes on where it was; its finished
        points are in the file with ``.part`` behind its name.

        progress(finished, all); started(pid): called with the process of each local worker.
        """
        output = Path(output)
        if output.is_dir():
            raise UsageError(f"{output} is a folder: give a file in it, as {output / 'sweep.h5'}")
        try:
            output.absolute().parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{output} cannot be written: {error.strerror}") from None
        journal = Journal(output.with_name(f"{output.name}.part"), self.digest)
        try:
            finished, external = {}, _External(journal)
            for record in journal.records:
                result = pyon.decode(record.decode())
                if "number" in result:
                    finished[result["number"]] = result
            before = len(finished)
            for text in self._computed(finished, workers or processors(), over, started, external.check):
                journal.add(text)
                result = pyon.decode(text)
                finished[result["number"]] = result
                if progress is not None:
                    progress(len(finished), self.space.size)
            ordered = [finished[number] for number in range(self.space.size)]
            self.first_error = next((result["error"] for result in ordered if result["error"] is not None), None)
            self.best = None if self._search is None else self._search.best(finished)
            stored.write(output, self.space, ordered, self._attributes())
        except NoSuchObjective:
            journal.remove()  # nobody will finish it
            raise
        except BaseException:
            journal.close()
            raise
        journal.remove()
        return self.space.size - before, sum(result["error"] is not None for result in ordered)

    def _attributes(self) -> dict[str, str]:
        task = self.task
        return {
            "experiment": f"{task.file}:{task.class_name}",
            "source": task.files[task.file],
            "arguments": json.dumps(task.arguments, sort_keys=True),
            "bench": task.bench or "",
            "device_db": task.device_db,
            "sweep": self.digest,
            **({} if self._search is None else {"goal": self._search.goal.said(), "best": json.dumps(self.best)}),
        }


class _External:
    """The modules that the experiment imports from elsewhere than its folder: the same for all points of a sweep, also
    of those that were computed before it was interrupted."""

    def __init__(self, journal: Journal):
        self._journal, self._lock = journal, threading.Lock()
        said = [pyon.decode(record.decode()) for record in journal.records]
        self._known = next((each["external"] for each in said if "external" in each), None)

    def check(self, external: dict[str, str]):
        """Compare what a worker has imported. UsageError if one has changed."""
        with self._lock:
            if self._known is None:
                self._known = external
                if external:
                    self._journal.add(pyon.encode({"external": external}))
            changed = [path for path in {**self._known, **external} if self._known.get(path) != external.get(path)]
            if changed:
                part = self._journal.path
                raise UsageError(
                    f"{changed[0]} has changed since the sweep began: put it back, or start again with another -o or "
                    f"without {part}"
                )


def _models(bench: Path | None, text: str | None) -> dict[str, str]:
    """Return the texts of the models in Python that a bench file names."""
    if bench is None:
        return {}
    named = [part.get("file") for part in toml_of(text or "", bench).get("python", {}).values()]
    return {name: source(bench.parent / name) for name in named if name and (bench.parent / name).is_file()}


_beginning = threading.local()
"""The file of the experiment that is being imported for a sweep of this thread."""


def _file_of(experiment: type) -> str:
    """Return the file of a class; UsageError if it is in none."""
    try:
        file = inspect.getfile(experiment)
    except (OSError, TypeError):
        file = ""
    if not Path(file).is_file():
        raise UsageError(
            f"{experiment.__name__} is in no file that a worker could import: "
            f"write it to one (in a notebook: %%writefile {experiment.__name__.lower()}.py), and give the file's name"
        )
    return file


def _values(values) -> Uniform | list:
    """Return the values of a dimension: those of any sequence, or the only one."""
    if isinstance(values, Uniform):
        return values
    if isinstance(values, np.ndarray):
        return list(np.atleast_1d(values))
    is_one = isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable)
    return [values] if is_one else list(values)


def sweep(
    experiment,
    scan: Mapping[str, Any],
    output="sweep.h5",
    repeat: int = 1,
    samples: int = 0,
    seed: int = 0,
    workers: int | None = None,
    over: str | None = None,
    progress: bool = True,
    minimize: str | None = None,
    maximize: str | None = None,
    **more,
):
    """Compute an experiment at every point of a sweep, and return the results as an
    ``xarray.Dataset`` if xarray and h5netcdf are installed, else the path of the file.

    experiment: its file, or its class, which is in a file that can be imported. scan: values (any sequence) or
    `Uniform`, by the name of an argument or of a number of the bench file. arguments: those that do not vary, by
    name. workers: processes of this computer, by default as many as it has processors; over: a Dask cluster,
    ``dask://HOST:PORT``. minimize, maximize: the dataset to which random values are to be the best, see `Objective`;
    then they are not drawn, but proposed by Optuna. `more`: `arguments`, `class_name`, `device_db`, `bench`,
    `twin`, `within_s`, `batch`, as for `Sweep`.
    """
    file = experiment
    if inspect.isclass(experiment):
        file = _file_of(experiment)
        more.setdefault("class_name", experiment.__name__)
    given = {name: pyon.encode(value) for name, value in (more.pop("arguments", None) or {}).items()}
    dimensions = tuple(Dimension(name, _values(values)) for name, values in scan.items())
    if minimize is not None and maximize is not None:
        raise CommandLineError("a search has one goal: minimize or maximize")
    if minimize is not None or maximize is not None:
        more["goal"] = Objective(minimize or maximize, maximize is not None)
    if getattr(_beginning, "file", None) is not None:
        raise UsageError(
            f"{_beginning.file} calls kairos.sweep when it is imported, as each worker does: "
            'put the call below if __name__ == "__main__":'
        )
    _beginning.file = file
    try:
        made = Sweep(file, Space(dimensions, repeat, samples, seed), given, **more)
    finally:
        _beginning.file = None
    bar = None
    if progress:
        # Imported late: few sweeps are started from a program.
        from tqdm.auto import tqdm

        bar = tqdm(total=made.space.size, unit="point")
    made.run(output, workers, over, None if bar is None else lambda done, _: bar.update(done - bar.n))
    if bar is not None:
        bar.close()
    try:
        # An extra: the file is complete without it.
        import xarray
    except ImportError:
        return Path(output)
    return xarray.load_dataset(output, engine="h5netcdf")
