"""Runs as tables: whatever datasets they have and however they are called."""

import csv

import numpy as np
import pytest

from kairos.errors import UsageError
from kairos.experiment.datasets import DatasetManager
from kairos.experiment.hdf5 import write_hdf5
from kairos.labdata import Run, write_table

pyarrow = pytest.importorskip("pyarrow")
from pyarrow import feather, parquet  # noqa: E402 (without pyarrow there is nothing to test)

COLUMNS = {
    "points": [1, 2, 3],
    "with gaps": [1.0, float("nan"), float("inf")],
    "complex": np.array([1j, 2, 3 - 1j]),
    "complex64": np.array([1j, 2, 3 - 1j], dtype="c8"),
    "texts": ["a", "é", ""],
    "bytes": np.array([b"a", b"\xff", b""]),
    "truth": [True, False, True],
    "u64": np.array([0, 1, 2**64 - 1], dtype="u8"),
    "half": np.array([1, 2, 3], dtype="f2"),
    "long": np.array([1, 2, 3], dtype=np.longdouble),
    "struct": np.array([(1, 2.0)] * 3, dtype=[("a", "i4"), ("b", "f8")]),
    "name\udcff, \n": [1, 2, 3],
    "big": np.array([1, 2, 3], dtype=">i4"),
}
OTHERS = {
    "ragged": [[1], [1, 2]],
    "empty": [],
    "text": "x\udcff\0",
    "none": None,
    "huge": 10**400,
    "matrix": np.zeros((3, 2)),
    "zero": np.array(5),
    "dictionary": {"a": 1},
}


@pytest.fixture
def run(tmp_path):
    manager = DatasetManager()
    for key, value in {**COLUMNS, **OTHERS}.items():
        manager.set(key, value, {"unit": "V"} if key == "points" else {})
    write_hdf5(tmp_path / "run.h5", manager)
    return Run({**RECORD, "results": "run.h5"}, tmp_path)


RECORD = {
    "rid": 7,
    "status": "completed",
    "class_name": "Scan",
    "file": "a\udcff.py",
    "submitted": 1.0,
    "arguments": {"n": "3", "huge": str(10**400), "scan": '{"a": 1}', "name\udcff": '"text\\udcff"'},
    "numbers": {"rid": [1.5, 0.1], "status": [2.0, None], "started": [3.0, None], "total": [4.0, None]},
}


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_datasets_of_every_kind_become_columns_of_a_table(run, tmp_path, ending):
    path = tmp_path / f"out\udcff.{ending}"
    assert run.write(path) == 3
    if ending == "csv":
        header, *rows = list(csv.reader(path.open(newline="")))
        assert len(rows) == 3 and {"points", "complex.imag", "name?, \n"} - {*header} == {"name?, \n"}
        return
    table = (parquet.read_table if ending == "parquet" else feather.read_table)(path.open("rb"))
    assert table["points"].to_pylist() == [1, 2, 3] and table["texts"].to_pylist() == COLUMNS["texts"]
    assert table["complex.real"].to_pylist() == [0, 2, 3] and table["complex64.imag"].to_pylist() == [1, 0, -1]
    assert table["u64"].to_pylist() == [0, 1, 2**64 - 1] and table["half"].to_pylist() == [1, 2, 3]
    assert table["long"].to_pylist() == [1, 2, 3] and table["big"].to_pylist() == [1, 2, 3]
    assert len(table["struct"]) == 3 and not {*OTHERS} & {*table.column_names}


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_rows_of_runs_keep_their_properties_beside_results_of_the_same_name(run, tmp_path, ending):
    row = run.row()
    assert (row["rid"], row["status"], row["results.rid"], row["results.rid.error"]) == (7, "completed", 1.5, 0.1)
    assert row["started"] is None and row["results.started"] == 3.0 and row["total"] == 4.0
    write_table({name: [value, None] for name, value in row.items()}, tmp_path / f"runs.{ending}")
    if ending == "parquet":
        table = parquet.read_table(tmp_path / "runs.parquet")
        assert table["rid"].to_pylist() == [7, None] and table["arguments.huge"].to_pylist()[0].startswith("1000")
        assert table["file"].to_pylist() == ["a?.py", None]


def test_run_is_ready_for_pandas_and_xarray(run):
    pytest.importorskip("pandas")
    pytest.importorskip("xarray")
    assert run.to_pandas()["points"].tolist() == [1, 2, 3]
    found = run.to_xarray()
    assert found["points"].attrs["unit"] == "V" and found["matrix"].dims == ("matrix_0", "matrix_1")
    assert found.attrs["rid"] == 7


def test_run_without_lists_is_refused_in_a_line(tmp_path):
    manager = DatasetManager()
    manager.set("one", 1.0, {})
    write_hdf5(tmp_path / "run.h5", manager)
    with pytest.raises(UsageError, match="run 7 has no lists of numbers"):
        Run({**RECORD, "results": "run.h5"}, tmp_path).write(tmp_path / "out.csv")
