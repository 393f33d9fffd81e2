"""The runs of a laboratory as data: for notebooks (`kairos.lab.connect`), and export to tables.

pandas, xarray and pyarrow are imported only by the methods that return their objects.
"""

from pathlib import Path

from . import files, pyon, resultfiles
from .errors import CommandLineError, UsageError
from .labclient import connect as dial

__all__ = ["Laboratory", "Run", "connect"]

FORMATS = (".parquet", ".arrow", ".csv")


def connect(folder=None) -> "Laboratory":
    """Connect to the laboratory in `folder`, by default as the commands do; UsageError if none is running."""
    return Laboratory(folder)


class Laboratory:
    """A running laboratory. Besides the methods here, all those of its service: `submit`, `queue`,
    `datasets`, `calibrate` and others (`kairos.lab.service.Service`)."""

    def __init__(self, folder=None):
        self._client = dial(folder)
        status = self._client.status()
        self.folder = Path(status["folder"])
        self.results = Path(status["results"])

    def __getattr__(self, name: str):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._client, name)

    def __repr__(self) -> str:
        return f"<laboratory {self.folder}>"

    def run(self, rid: int) -> "Run":
        """Return a run that has ended; UsageError if there is none."""
        return Run(self._client.run(rid), self.results)

    def runs(self, *conditions: str, limit: int | None = None) -> list["Run"]:
        """Return the runs that match all conditions (as ``kairos runs list``), newest first."""
        return [Run(record, self.results) for record in self._client.run_details(list(conditions), limit)]

    def table(self, *conditions: str, limit: int | None = None):
        """Return the runs that match as a pandas DataFrame: a row per run; columns for arguments and
        results, the latter with their errors as ``NAME.error``."""
        import pandas  # a notebook has it, the laboratory need not

        found = [run.row() for run in self.runs(*conditions, limit=limit)]
        table = pandas.DataFrame(found).set_index("rid") if found else pandas.DataFrame()
        for name in ("submitted", "started", "ended"):
            if name in table:
                table[name] = pandas.to_datetime(table[name], unit="s", utc=True)
        return table

    def write_runs(self, conditions: list[str], path) -> int:
        """Write the runs that match as a table, see `write_table`; returns their number."""
        found = [run.row() for run in self.runs(*conditions)]
        names = dict.fromkeys(name for row in found for name in row)
        write_table({name: [row.get(name) for row in found] for name in names}, path)
        return len(found)


class Run:
    """A run that has ended."""

    def __init__(self, record: dict, results: Path):
        self.record = record
        self.rid: int = record["rid"]
        self.status: str = record["status"]
        self.experiment: str = record["class_name"]
        self.path: Path | None = results / record["results"] if record.get("results") else None
        self._datasets: dict | None = None

    def __repr__(self) -> str:
        return f"<run {self.rid}: {self.experiment}, {self.status}>"

    @property
    def arguments(self) -> dict:
        """Its arguments, by name."""
        return {name: pyon.decode(text) for name, text in self.record["arguments"].items()}

    @property
    def numbers(self) -> dict[str, tuple[float, float | None]]:
        """Its results, by name: (value, standard error); fits as ``FIT.PARAMETER``."""
        return {name: tuple(entry) for name, entry in self.record["numbers"].items()}

    @property
    def datasets(self) -> dict:
        """Its datasets, by name: numbers, texts, NumPy arrays in base units. UsageError if its file
        cannot be read."""
        return {name: value for name, (value, _) in self._loaded().items()}

    def metadata(self, name: str) -> dict:
        """Return `unit`, `scale` and others of a dataset; KeyError."""
        return self._loaded()[name][1]

    def _loaded(self) -> dict[str, tuple]:
        if self._datasets is None:
            self._datasets = {} if self.path is None else _datasets(self.path)
        return self._datasets

    def row(self) -> dict:
        """Return what is known of it as a row of a table."""
        names = ("rid", "class_name", "file", "repo_rev", "pipeline", "person", "status")
        times = ("submitted", "started", "ended")
        arguments = {f"arguments.{name}": _cell(value) for name, value in self.arguments.items()}
        found = {**{name: self.record.get(name) for name in (*names, *times)}, **arguments}
        results = {}
        for name, (value, error) in self.numbers.items():
            # A dataset may be called as a property of runs is.
            column = f"results.{name}" if name in found else name
            results[column] = value
            if error is not None:
                results[f"{column}.error"] = error
        return {**found, **results}

    def columns(self) -> dict:
        """Return the datasets that are lists of numbers of the most frequent length, as columns."""
        lists = {name: value for name, value in self.datasets.items() if getattr(value, "ndim", 0) == 1}
        if not lists:
            raise UsageError(f"run {self.rid} has no lists of numbers")
        lengths = [len(value) for value in lists.values()]
        common = max(lengths, key=lambda length: (lengths.count(length), length))
        return {name: value for name, value in lists.items() if len(value) == common}

    def to_pandas(self):
        """Return `columns` as a pandas DataFrame, in base units."""
        import pandas  # as above

        return pandas.DataFrame(self.columns())

    def to_xarray(self):
        """Return all datasets that are arrays as an xarray Dataset with their units; dimensions are
        ``point`` for columns, and NAME_0, NAME_1, … for others."""
        import xarray  # as above

        columns, made = self.columns(), {}
        for name, value in self.datasets.items():
            if getattr(value, "ndim", 0):
                axes = [f"{name}_{axis}" for axis in range(value.ndim)]
                made[name] = (["point"] if name in columns else axes, value, self.metadata(name))
        return xarray.Dataset(made, attrs={"rid": self.rid, "experiment": self.experiment})

    def write(self, path) -> int:
        """Write `columns` as a table, see `write_table`; returns the number of rows."""
        columns = self.columns()
        write_table(columns, path)
        return len(next(iter(columns.values())))


def _cell(value):
    return value if value is None or isinstance(value, bool | int | float | str) else pyon.encode(value)


def _datasets(path: Path) -> dict[str, tuple]:
    found: dict[str, tuple] = {}
    with resultfiles.opened(path) as file:
        for name, node in resultfiles.datasets(resultfiles.group_of(file, "datasets")):
            value = resultfiles.value(node)
            found[name] = (value.decode(errors="replace") if isinstance(value, bytes) else value), dict(node.attrs)
    return found


def write_table(columns: dict, path):
    """Write columns to a file in the format that its name ends in: Parquet, Arrow (Feather) or CSV.
    CommandLineError for another ending, UsageError if it cannot be written or pyarrow is missing."""
    ending = Path(path).suffix
    if ending not in FORMATS:
        raise CommandLineError(f"{path}: the name must end in {', '.join(FORMATS)}")
    try:
        import pyarrow  # imported late, as it is large and optional
        from pyarrow import csv, feather, parquet  # as above
    except ImportError:
        raise UsageError("tables need pyarrow: pip install 'kairos[export]'") from None
    parts = (part for name, values in columns.items() for part in _real(_unicode(name), values))
    table = pyarrow.table({name: _column(pyarrow, values) for name, values in parts})
    write = {".parquet": parquet.write_table, ".arrow": feather.write_feather, ".csv": csv.write_csv}[ending]
    with files.replacing(path) as new:
        try:
            with open(new, "wb") as file:  # its name may be one that pyarrow does not take
                write(table, file)
        except (OSError, pyarrow.ArrowException) as error:
            raise UsageError(f"{path} cannot be written: {files.reason(error)}") from None


def _real(name: str, values) -> list[tuple]:
    """Return a column as columns that tables have: of complex numbers two, others in the order of bytes and with as
    many as they know."""
    if not hasattr(values, "dtype"):
        return [(name, values)]
    if values.dtype.kind == "c":
        return [(f"{name}.real", values.real.astype(float)), (f"{name}.imag", values.imag.astype(float))]
    if values.dtype.kind == "f" and values.itemsize not in (4, 8):
        return [(name, values.astype(float))]
    return [(name, values.astype(values.dtype.newbyteorder("=")))]


def _column(pyarrow, values):
    """Return a column; of values of several types, or of one that tables have not, their texts."""
    try:
        found = pyarrow.array(values)
        if not (pyarrow.types.is_binary(found.type) or pyarrow.types.is_nested(found.type)):
            return found
    except (pyarrow.ArrowException, ValueError, TypeError, OverflowError):
        pass
    return pyarrow.array([None if value is None else _cell_text(value) for value in values])


def _cell_text(value) -> str:
    return _unicode(value.decode(errors="replace") if isinstance(value, bytes) else str(value))


def _unicode(text: str) -> str:
    """Return a text without the halves of characters that stand for bytes of another encoding."""
    return text.encode(errors="replace").decode()
