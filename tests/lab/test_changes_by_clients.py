"""Changes of datasets by clients, which must leave something that the next one can read."""

import pytest

from kairos.errors import UsageError
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
