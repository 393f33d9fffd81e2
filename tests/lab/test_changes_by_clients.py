"""Changes of datasets by clients, which must leave something that the next one can read."""

import copy

import numpy
import pytest

from kairos.errors import UsageError
from kairos.experiment.datasets import apply_change
from kairos.experiment.store import DatasetStore
from kairos.lab.database import Database
from kairos.lab.live import LiveDatasets


@pytest.fixture
def live(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/lab.db")
    datasets = LiveDatasets(DatasetStore(tmp_path / "dataset_db.mdb"), database)
    datasets.set("a", [1, 2], True, {"unit": "ms"})
    yield datasets
    datasets.close()
    database.close()


@pytest.mark.parametrize(
    "mod",
    [
        {"action": "pop", "path": ["a"], "i": 0},
        {"action": "append", "path": ["a"], "x": 0},
        {"action": "delitem", "path": ["a"], "key": 1},
        {"action": "setitem", "path": ["a"], "key": 2, "value": None},
        {"action": "setitem", "path": [], "key": "a", "value": (True, 1, {"unit": 5})},
        {"action": "setitem", "path": [], "key": 5, "value": (True, 1, {})},
        {"action": "setitem", "path": [], "key": "", "value": (True, 1, {})},
        {"action": "setitem", "path": ["a", 2], "key": "unit", "value": 5},
        {"action": "clear", "path": []},
    ],
)
def test_change_that_leaves_no_dataset_is_refused(live, mod):
    with pytest.raises(UsageError, match="dataset|metadata of a"):
        live.update(mod)
    assert live.values == {"a": (True, [1, 2], {"unit": "ms"})}


def test_parts_of_a_dataset_are_changed_by_their_paths(live):
    live.update({"action": "append", "path": ["a", 1], "x": 3})
    live.update({"action": "setitem", "path": ["a", 2], "key": "unit", "value": "us"})
    assert live.values == {"a": (True, [1, 2, 3], {"unit": "us"})}
    live.update({"action": "setitem", "path": ["a"], "key": 1, "value": 7})
    assert live.history("a")[0]["value"] == "7"


@pytest.mark.parametrize(
    ("value", "mod"),
    [
        ([1, 2], {"action": "append", "path": ["a", 1], "x": 3}),
        ([1, 2], {"action": "pop", "path": ["a", 1], "i": 0}),
        ([1, [2]], {"action": "setitem", "path": ["a", 1, 1], "key": 0, "value": 3}),
        ([([1], 2)], {"action": "append", "path": ["a", 1, 0, 0], "x": 3}),
        (numpy.arange(6).reshape(2, 3), {"action": "setitem", "path": ["a", 1, 1], "key": slice(0, 2), "value": 9}),
        ({"b": {"c": 1}}, {"action": "delitem", "path": ["a", 1, "b"], "key": "c"}),
        ([1], {"action": "setitem", "path": ["a"], "key": 1, "value": 7}),
        ([1], {"action": "setitem", "path": ["a"], "key": 0, "value": False}),
        ([1], {"action": "setitem", "path": ["a", 2], "key": "unit", "value": "us"}),
    ],
)
def test_change_in_place_that_the_history_refuses_is_undone(live, tmp_path, value, mod):
    live.set("a", value, True)
    before, seen = repr(live.values), copy.deepcopy(live.values)
    live.publication.watchers.append(lambda changes: [apply_change(seen, copy.deepcopy(change)) for change in changes])

    def kept():
        return repr({key: tuple(entry) for key, entry in live._store.kept().items()})

    (tmp_path / "lab.db").rename(tmp_path / "away")
    with pytest.raises(UsageError, match="its file was removed or replaced"):
        live.update(mod, "somebody")
    assert [repr(live.values), repr(seen), kept()] == [before] * 3 and live.by_people["a"] is None
    (tmp_path / "away").rename(tmp_path / "lab.db")
    live.update(mod, "somebody")
    assert repr(seen) == repr(live.values) != before and live.by_people["a"] == "somebody"
    # What was acknowledged is on the disk at once, not within a second.
    assert kept() == (repr(live.values) if live.values["a"][0] else "{}")
