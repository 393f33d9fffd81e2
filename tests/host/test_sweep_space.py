"""Points of a sweep, values of a bench file, the journal and the file of results, without devices."""

import tomllib

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from kairos import pyon
from kairos.errors import CommandLineError, UsageError
from kairos.twin.sweep import Uniform
from kairos.twin.sweep.journal import Journal
from kairos.twin.sweep.results import arrays, write
from kairos.twin.sweep.space import Dimension, Space, dimension
from kairos.twin.sweep.task import resolved, with_values
from kairos.twin.sweep.toml import toml
from tests.support.paths import EXAMPLES

CRYSTAL = (EXAMPLES / "ion" / "crystal.toml").read_text()

keys = some.text(min_size=1, max_size=8)
plain = some.one_of(
    some.booleans(), some.integers(-(1 << 62), 1 << 62), some.floats(allow_nan=False), some.text(max_size=9)
)
values = some.recursive(
    plain, lambda inner: some.one_of(some.lists(inner, max_size=3), some.dictionaries(keys, inner, max_size=3)),
    max_leaves=8,
)  # fmt: skip


@given(some.dictionaries(keys, values, max_size=4))
def test_table_written_as_toml_is_read_back(table):
    assert tomllib.loads(toml(table)) == table


def test_values_of_a_bench_are_named_by_path_or_by_their_end():
    full = "crystal.calcium.mode.heating_hz"
    assert {resolved(name, CRYSTAL) for name in (full, "heating_hz", "heating", "mode.heating_hz")} == {full}
    assert resolved("crystal.calcium.mode.quanta", CRYSTAL) == "crystal.calcium.mode.quanta"
    with pytest.raises(UsageError, match=r"may be .*aom_397.*give the full name"):
        resolved("delay_ns", CRYSTAL)
    for name in ("nonsense", "crystal.nobody.heating_hz"):
        with pytest.raises(UsageError, match="neither the experiment has an argument"):
            resolved(name, CRYSTAL)
    changed = tomllib.loads(with_values(CRYSTAL, {full: 7.5, "crystal.calcium.drive.0.rabi_hz": 1.0, "seed": 3}))
    expected = tomllib.loads(CRYSTAL)
    expected["crystal"]["calcium"]["mode"]["heating_hz"] = 7.5
    expected["crystal"]["calcium"]["drive"][0]["rabi_hz"] = 1.0
    expected["seed"] = 3
    assert changed == expected


def test_points_of_a_grid_count_up_from_the_last_dimension():
    space = Space((Dimension("a", [1, 2]), Dimension("b", [0.5, 1.5, 2.5])), repeats=2)
    points = list(space)
    assert space.shape == (2, 3, 2) and [point.number for point in points] == list(range(12))
    assert [point.values for point in points[:4]] == [{"a": 1, "b": 0.5}] * 2 + [{"a": 1, "b": 1.5}] * 2
    assert points[-1].values == {"a": 2, "b": 2.5}
    assert len({point.seed for point in points}) == 12
    other = Space(space.dimensions, repeats=2, seed=1)
    assert not {point.seed for point in other} & {point.seed for point in points}


def test_random_dimensions_vary_together_and_depend_on_the_seed():
    def space(seed):
        return Space((Dimension("n", [1, 2]), Dimension("x", Uniform(0, 1)), Dimension("y", Uniform(5, 6))),
                     samples=4, seed=seed)  # fmt: skip

    one = space(0)
    assert one.shape == (2, 4) and set(one.axes) == {"n", "sample"}
    for number, point in enumerate(one):
        assert point.values["x"] == one.drawn["x"][number % 4] and 5 <= point.values["y"] <= 6
    assert (one.drawn["x"] == space(0).drawn["x"]).all() and (one.drawn["x"] != space(1).drawn["x"]).all()


def test_scans_of_a_command_line_are_parsed_or_refused():
    assert dimension("t=10us:20us:3").values.tolist() == pytest.approx([10e-6, 15e-6, 20e-6])
    assert dimension("n=1:9:5").values.tolist() == [1, 3, 5, 7, 9]
    assert dimension("n=1:9:5").values.dtype == np.int64
    assert dimension("n=0:1:3").values.tolist() == [0, 0.5, 1]
    assert dimension('name=["a", "b"]').values == ["a", "b"]
    assert dimension("x=-1kHz~1kHz").values == Uniform(-1000, 1000)
    for text in ("x", "x=", "=1:2:3", "x=1:2", "x=1:2:0", "x=[]", "x=5", "x=a~b", "x=1:b:3", "x=nan:1:3", "x=1~inf"):
        with pytest.raises(CommandLineError):
            dimension(text)
    for wrong in (
        lambda: Space((Dimension("a", [1]), Dimension("a", [2]))),
        lambda: Space((Dimension("a", []),)),
        lambda: Space((Dimension("a", [1]),), repeats=0),
        lambda: Space((Dimension("a", Uniform(0, 1)),)),
        lambda: Space((Dimension("a", [1]),), samples=3),
        lambda: Space((Dimension("a", range(10_000)), Dimension("b", range(10_000)))),
    ):
        with pytest.raises(CommandLineError):
            wrong()


@given(some.lists(some.text(max_size=20), max_size=6), some.integers(0, 400))
def test_journal_that_was_cut_keeps_its_complete_records(tmp_path_factory, texts, cut):
    path = tmp_path_factory.mktemp("journal") / "a.part"
    journal = Journal(path, "digest")
    for text in texts:
        journal.add(text)
    journal.close()
    whole = path.read_bytes()
    path.write_bytes(whole[: max(0, len(whole) - cut)])
    again = Journal(path, "digest")
    assert [record.decode() for record in again.records] == texts[: len(again.records)]
    assert cut or len(again.records) == len(texts)
    again.add("more")
    again.close()
    assert Journal(path, "digest").records[-1] == b"more"
    with pytest.raises(UsageError, match="another sweep"):
        Journal(path, "other")


def test_damaged_journal_costs_the_points_that_were_hit_and_no_other_file(tmp_path, caplog):
    path = tmp_path / "a.part"
    journal = Journal(path, "digest")
    points = [pyon.encode({"number": number, "error": None}) for number in range(5)]
    for text in points:
        journal.add(text)
    with pytest.raises(UsageError, match="is used by a sweep in progress"):
        Journal(path, "digest")
    journal.close()
    whole = path.read_bytes()
    second = whole.index(points[1].encode())
    for place in (second + 3, second - 8):  # a value, a length
        damaged = bytearray(whole)
        damaged[place] ^= 0x55
        path.write_bytes(damaged)
        again = Journal(path, "digest")
        assert [record.decode() for record in again.records] == [points[0], *points[2:]]
        again.add(points[1])
        again.close()
        assert len(Journal(path, "digest").records) == 5
    assert "are computed again" in caplog.text
    for content in (
        b"a file of the user, which happens to have this name",
        b"\0\1" + whole[2:],
        whole[:9] + b"X" + whole[10:],
    ):
        path.write_bytes(content)
        with pytest.raises(UsageError, match="no part of a sweep"):
            Journal(path, "digest")
        assert path.read_bytes() == content


def result(number, error=None, **datasets):
    return {
        "number": number,
        "error": error,
        "device_ns": 10,
        "datasets": {key: pyon.encode(value) for key, value in datasets.items()},
    }


def test_results_become_arrays_with_a_dimension_for_each_scan(tmp_path):
    space = Space((Dimension("a", [1, 2]),), repeats=2)
    made = [
        result(0, n=1, curve=[1, 2, 3], ragged=[1], text="x"),
        result(1, n=2, curve=[4, 5, 6], ragged=[1, 2], text="y"),
        result(2, error="x.py:3: RTIOUnderflow: late"),
        result(3, n=4, curve=[7, 8, 9], ragged=[], text="z"),
    ]
    coordinates, variables = arrays(space, made)
    assert coordinates["a"][1].tolist() == [1, 2] and coordinates["repeat"][1].tolist() == [0, 1]
    dimensions, curve = variables["curve"]
    assert dimensions == ("a", "repeat", "curve_0") and curve.shape == (2, 2, 3)
    assert np.isnan(curve[1, 0]).all() and curve[1, 1].tolist() == [7, 8, 9]
    assert variables["error"][1].tolist() == [["", ""], ["x.py:3: RTIOUnderflow: late", ""]]
    assert variables["ragged"][1][0].tolist() == ["[1]", "[1, 2]"] and variables["text"][1][1, 0] == ""
    one, other = tmp_path / "one.h5", tmp_path / "other.h5"
    for path in (one, other):
        write(path, space, made, {"experiment": "x"})
    assert one.read_bytes() == other.read_bytes()
    with h5py.File(one) as file:
        assert file["curve"].dims[2][0].name == "/curve_0"


def test_file_of_results_is_read_by_xarray(tmp_path):
    xarray = pytest.importorskip("xarray")
    space = Space((Dimension("a", [1, 2]), Dimension("x", Uniform(0, 1))), samples=2)
    made = [result(number, curve=[number, 0.5], text="µ") for number in range(4)]
    write(tmp_path / "s.h5", space, made, {"experiment": "x"})
    found = xarray.load_dataset(tmp_path / "s.h5", engine="h5netcdf")
    assert found["curve"].dims == ("a", "sample", "curve_0") and found["curve"].sel(a=2)[1, 0] == 3
    assert found["x"].dims == ("sample",) and found.attrs["experiment"] == "x"
    assert (found["text"] == "µ").all()
