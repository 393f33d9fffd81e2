"""Any value under any name: the file of a run has all datasets that can be written, whatever else there is."""

import h5py
import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kairos.experiment.datasets import DatasetManager
from kairos.experiment.hdf5 import write_hdf5

GOOD = {"before": 1.5, "group/array": [1, 2, 3], "text": "µ"}


class Unprintable:
    printable = False
    """Whether Hypothesis may print it."""

    def __repr__(self):
        if self.printable:
            return "Unprintable()"
        raise ValueError("no text\nat all")


@pytest.fixture(autouse=True)
def unprintable_until_hypothesis_prints():
    Unprintable.printable = False


class Unnamable:
    def __str__(self):
        raise TypeError("no name")


def containing_itself():
    value = [1]
    value.append(value)
    return value


def written(tmp_path, datasets):
    manager = DatasetManager()
    for key, value in datasets.items():
        manager.set(key, value, {"unit": "s"})
    write_hdf5(tmp_path / "out.h5", manager)
    with h5py.File(tmp_path / "out.h5") as file:
        group, names = file["datasets"], []
        group.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        assert group["before"][()] == 1.5 and group["text"].asstr()[()] == "µ"
        assert group["group/array"][:].tolist() == [1, 2, 3]
    return names


@pytest.mark.parametrize(
    "key, value, stored",
    [
        (3, 4, "3"),
        (None, 4, "None"),
        (("a", 1), 4, "('a', 1)"),
        ("a\ud800", 4, "a\\ud800"),
        ("a\0b", 4, "a\\0b"),
        ("itself", containing_itself(), "itself"),
        ("unprintable", Unprintable(), None),
        ("within", [1, {"a": Unprintable()}], None),
        (Unnamable(), 4, "unnamed (TypeError)"),
        ("surrogate", "\ud800", "surrogate"),
        ("object", numpy.array([None, object()], dtype=object), "object"),
        ("huge", 10**400, "huge"),
        ("..", 4, None),
        (".", 4, None),
        ("/", 4, "unnamed"),
        ("", 4, "unnamed"),
    ],
    ids=range(16),
)
def test_unwritable_dataset_leaves_others_written(tmp_path, caplog, key, value, stored):
    first, *others = GOOD.items()
    names = written(tmp_path, dict([first, (key, value), *others]))
    if stored is not None:
        assert stored in names
    assert set(GOOD) <= set(names)
    assert all("\n" not in record.getMessage() for record in caplog.records)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.one_of(st.text(st.characters(), max_size=8), st.integers(), st.none(), st.tuples(st.integers())),
        st.recursive(
            st.one_of(
                st.none(),
                st.integers(),
                st.floats(),
                st.complex_numbers(),
                st.text(st.characters()),
                st.binary(),
                st.just(Unprintable()),
                st.just(containing_itself()),
            ),
            lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner), st.tuples(inner, inner)),
            max_leaves=6,
        ),
        max_size=5,
    )
)
def test_random_unwritable_datasets_leave_others_written(tmp_path, datasets):
    clean = {key: value for key, value in datasets.items() if key not in GOOD}
    Unprintable.printable = False
    try:
        assert set(GOOD) <= set(written(tmp_path, GOOD | clean))
    finally:
        Unprintable.printable = True
