"""`artiq.master.worker_db.DatasetManager` on databases that laboratories wrote themselves."""

import numpy as np
import pytest

from kairos.compat.databases import DatasetDB, DatasetManager
from kairos.experiment.datasets import apply_change


class Shares:
    """A database that applies changes to what it was given, and keeps them; `entries`: at the beginning."""

    def __init__(self, entries=()):
        self.data = dict(entries)
        self.changes = []

    def get(self, key):
        return self.data[key][1]

    def update(self, change):
        self.changes.append(change)
        apply_change(self.data, change)

    def delete(self, key):
        del self.data[key]


class WithSet(Shares):
    """Has the methods that ARTIQ's own has, too."""

    def set(self, key, value, persist=None, metadata=None):
        self.data[key] = (persist, value, metadata)


@pytest.mark.parametrize("kind", [Shares, WithSet])
@pytest.mark.parametrize("archive", [True, False])
def test_changes_in_place_reach_the_database_once(kind, archive):
    shared = kind()
    manager = DatasetManager(shared)
    manager.set("counts", [1], {"unit": "Hz"}, broadcast=True, archive=archive)
    manager.append_to("counts", 2)
    manager.mutate("counts", 0, 7)
    manager.set("image", np.zeros((2, 3)), {}, broadcast=True, archive=archive)
    manager.mutate("image", ((0, 1), (1, 3)), 5.0)
    manager.mutate("image", (1, 2), [1.0, 2.0, 3.0])
    assert shared.get("counts") == [7, 2] == manager.get("counts", archive=False)
    assert shared.get("image").tolist() == [[0, 5, 5], [1, 2, 3]]
    assert [change["action"] for change in shared.changes] == [
        "setitem", "append", "setitem", "setitem", "setitem", "setitem",
    ]  # fmt: skip
    assert shared.changes[1] == {"action": "append", "path": ["counts", 1], "x": 2}
    assert shared.changes[2] == {"action": "setitem", "path": ["counts", 1], "key": 0, "value": 7}
    assert shared.changes[4]["key"] == (slice(0, 1), slice(1, 3))


def test_datasets_of_run_alone_are_not_reported():
    shared = Shares()
    manager = DatasetManager(shared)
    manager.set("own", [1], {})
    manager.append_to("own", 2)
    manager.mutate("own", 0, 3)
    assert shared.changes == [] and manager.local == {"own": [3, 2]}
    with pytest.raises(KeyError, match="nonexistent dataset 'other'"):
        manager.append_to("other", 1)


def test_refused_changes_are_not_reported():
    shared = Shares()
    manager = DatasetManager(shared)
    manager.set("x", [1], {}, broadcast=True)
    with pytest.raises(IndexError):
        manager.mutate("x", 5, 1)
    manager.set("y", 3, {}, broadcast=True)
    with pytest.raises(AttributeError):
        manager.append_to("y", 1)
    assert len(shared.changes) == 2


@pytest.mark.parametrize("entry, metadata", [((True, [1, 2]), {}), ((False, [1, 2], {"unit": "s"}), {"unit": "s"})])
def test_entries_with_and_without_metadata_are_read(entry, metadata):
    shared = Shares({"old": entry})
    manager = DatasetManager(shared)
    value = manager.get("old")
    value.append(3)
    assert shared.get("old") == [1, 2], "the run has a copy"
    assert manager.get_metadata("old") == metadata and list(manager.archive) == ["old"]
    assert manager.ddb.data["old"].persist is entry[0]


def test_database_without_contents_is_enough():
    class Minimal:
        def get(self, key):
            return {"a": 5}[key]

        def update(self, change):
            pass

        def delete(self, key):
            pass

    manager = DatasetManager(Minimal())
    assert manager.get("a") == 5 and manager.archive == {"a": 5}


def test_own_database_takes_entries_without_metadata(tmp_path):
    store = DatasetDB(tmp_path / "datasets.mdb")
    store.update({"action": "setitem", "path": [], "key": "a", "value": (False, [1])})
    manager = DatasetManager(store)
    manager.set("b", [1], {}, broadcast=True)
    manager.append_to("b", 2)
    assert store.get("a") == [1] and store.get_metadata("a") == {} and store.get("b") == [1, 2]
