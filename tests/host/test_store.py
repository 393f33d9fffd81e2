"""Datasets persistent between runs: with several processes, crashes, concurrent writers and damaged files."""

import signal
import subprocess
import sys

import lmdb
import numpy as np
import pytest

from kairos.errors import UsageError
from kairos.experiment.datasets import DatasetManager
from kairos.experiment.store import DatasetStore
from tests.support.command import one_line, run_kairos


@pytest.fixture
def path(tmp_path):
    return tmp_path / "dataset_db.mdb"


def reopened(store):
    store.close_db()
    return DatasetStore(store.path)


def test_only_persistent_datasets_are_kept(path):
    store = DatasetStore(path)
    store.set("passing", 1)
    assert not path.exists(), "nothing is to be kept yet"
    store.set("kept", np.arange(3), persist=True, metadata={"unit": "s"})
    store.set("kept too", {"a": (1, None)}, persist=True)
    store = reopened(store)
    assert store.keys() == ["kept", "kept too"]
    assert store.get("kept").tolist() == [0, 1, 2] and store.get_metadata("kept") == {"unit": "s"}
    assert store.get("kept too") == {"a": (1, None)}
    with pytest.raises(KeyError):
        store.get("passing")
    store.set("kept", 5)
    store.set("kept too", 6, persist=False)
    store = reopened(store)
    assert store.keys() == ["kept"] and store.get("kept") == 5, "it stays as it was before, unless that is said"
    store.delete("kept")
    with pytest.raises(KeyError):
        store.delete("kept")
    assert reopened(store).keys() == []


def test_mutated_persistent_dataset_is_kept(path):
    datasets = DatasetManager(DatasetStore(path))
    datasets.set("list", [], {}, persist=True)
    for number in range(1000):
        datasets.append_to("list", number)
    datasets.mutate("list", 0, -1)
    assert reopened(datasets.ddb).get("list") == [-1, *range(1, 1000)]


def test_killed_process_keeps_its_datasets(path):
    program = (
        "import os, signal, sys\nfrom kairos.experiment.store import DatasetStore\n"
        "store = DatasetStore(sys.argv[1])\n"
        "for number in range(50):\n    store.set(f'value {number}', number, persist=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, path])
    assert done.returncode == -signal.SIGKILL
    store = DatasetStore(path)
    assert {key: store.get(key) for key in store.keys()} == {f"value {n}": n for n in range(50)}


def test_concurrent_writers_keep_all_datasets(path):
    program = (
        "import sys\nfrom kairos.experiment.store import DatasetStore\n"
        "store = DatasetStore(sys.argv[1])\n"
        "for number in range(100):\n    store.set(f'{sys.argv[2]} {number}', number, persist=True)\n"
        "store.close_db()\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", program, path, name]) for name in "ab"]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert len(DatasetStore(path).keys()) == 200


def test_invalid_file_or_name_is_reported_in_one_line(path, tmp_path):
    path.write_bytes(b"This is no dataset store." * 1000)
    before = path.read_bytes()
    for store in (DatasetStore(path), DatasetStore(tmp_path)):
        with pytest.raises(UsageError, match="^the dataset store .* (cannot be opened|is a directory).*") as error:
            store.set("a", 1, persist=True)
        assert "\n" not in str(error.value) and store.get("a") == 1, "it is there in memory"
    assert path.read_bytes() == before
    store = DatasetStore(tmp_path / "new" / "store.mdb")
    with pytest.raises(UsageError, match="1 to 511 bytes"):
        store.set("x" * 600, 1, persist=True)
    with pytest.raises(UsageError, match="the dataset odd cannot be kept"):
        store.set("odd", object(), persist=True)
    store.set("good", 1, persist=True)
    assert reopened(store).keys() == ["good"], "the next one works"


def test_failed_write_is_reported_and_keeps_old_values(path):
    resource = pytest.importorskip("resource")
    store = DatasetStore(path)
    store.set("first", 1, persist=True)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
        with pytest.raises(UsageError, match="large cannot be kept in"):
            store.set("large", "x" * (1 << 22), persist=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    store = reopened(store)
    assert store.keys() == ["first"]
    store.set("second", 2, persist=True)
    assert reopened(store).keys() == ["first", "second"]


EXPERIMENT = """
from artiq.experiment import *


class Count(EnvExperiment):
    def run(self):
        count = self.get_dataset("count", default=0) + 1
        self.set_dataset("count", count, persist=True, unit="shots")
        if count == 3:
            raise ValueError("the third")
"""


def test_datasets_are_kept_between_runs(tmp_path):
    (tmp_path / "count.py").write_text(EXPERIMENT)
    (tmp_path / "device_db.py").write_text("device_db = {}\n")
    codes = [run_kairos("run", "count.py", cwd=tmp_path).returncode for _ in range(4)]
    assert codes == [0, 0, 1, 0]
    assert run_kairos("datasets", "list", cwd=tmp_path).stdout == "count: 4 shots\n"
    assert run_kairos("run", "count.py", "--dataset-db", "other.mdb", cwd=tmp_path).returncode == 0
    assert run_kairos("datasets", "--dataset-db", "other.mdb", "get", "count", cwd=tmp_path).stdout == "1\n"


def test_datasets_command_lists_sets_and_deletes(tmp_path):
    said = run_kairos("datasets", "list", cwd=tmp_path)
    assert said.returncode == 1 and said.stderr.startswith("kairos: there is no dataset store dataset_db.mdb")
    assert run_kairos("datasets", "set", "f", "[1, 2.5]", cwd=tmp_path).returncode == 0
    said = run_kairos("datasets", "list", "--json", cwd=tmp_path).stdout
    assert said == '{"key": "f", "value": [1, 2.5], "pyon": "[1, 2.5]", "metadata": {}}\n'
    assert run_kairos("datasets", "get", "f", "--json", cwd=tmp_path).stdout == said
    assert "is not a PYON value" in run_kairos("datasets", "set", "f", "hello", cwd=tmp_path).stderr
    assert run_kairos("datasets", "delete", "f", cwd=tmp_path).returncode == 0
    said = run_kairos("datasets", "delete", "f", cwd=tmp_path).stderr
    assert said == "kairos: there is no dataset f in dataset_db.mdb; 'kairos datasets list' lists all\n"


def kept(path, values=300):
    store = DatasetStore(path)
    for number in range(values):
        store.set(f"value {number}", list(range(number)), persist=True)
    store.close_db()
    return path.read_bytes()


@pytest.mark.parametrize("damage", ["text", "cut", "head", "zeros"])
def test_damaged_file_is_reported_before_run(tmp_path, damage):
    """Even if the run uses no dataset; the file is left unchanged."""
    path = tmp_path / "dataset_db.mdb"
    whole = kept(path)
    content = {
        "text": b"This is no dataset store." * 400,
        "cut": whole[: len(whole) // 2],
        "head": whole[:100],
        "zeros": bytes(len(whole)),
    }[damage]
    path.write_bytes(content)
    (tmp_path / "hello.py").write_text(
        "from artiq.experiment import *\n\n\nclass Hello(EnvExperiment):\n    def run(self):\n        print('hello')\n"
    )
    (tmp_path / "device_db.py").write_text("device_db = {}\n")
    for words in (["run", "hello.py"], ["run", "hello.py", "--dataset-db", path], ["datasets", "list"]):
        done = run_kairos(*words, cwd=tmp_path)
        one_line(done, "cannot be opened: it is ")
        assert "dataset_db.mdb" in done.stderr and "move it away" in done.stderr and done.stdout == ""
    assert path.read_bytes() == content
    assert run_kairos("run", "hello.py", "--dataset-db", "new.mdb", cwd=tmp_path).stdout.startswith("hello\n")


def test_intact_store_files_pass_the_check(tmp_path):
    path = tmp_path / "store.mdb"
    DatasetStore(path).check()
    path.touch()
    DatasetStore(path).check()
    store = DatasetStore(path)
    for number in range(300):
        store.set(f"value {number}", list(range(number)), persist=True)
        DatasetStore(path).check()
    for number in range(0, 300, 2):
        store.delete(f"value {number}")
        DatasetStore(path).check()
    assert len(reopened(store).keys()) == 150


def test_unreadable_entries_are_skipped_by_list(tmp_path):
    path = tmp_path / "dataset_db.mdb"
    store = DatasetStore(path)
    store.set("time", 1.5e-6, persist=True, metadata={"unit": "us", "scale": 1e-6})
    store.close_db()
    with lmdb.open(str(path), subdir=False) as file, file.begin(write=True) as transaction:
        for key, text in {
            b"cut": b"(((",
            b"number": b"5",
            b"two": b"(True, 5)",
            b"bytes": b"\xff",
            b"\xff": b"(1, {})",
        }.items():
            transaction.put(key, text)
    done = run_kairos("datasets", "list", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.splitlines() == ["time: 1.5 us", "\\xff: 1"]
    assert [line.split("'")[1] for line in done.stderr.splitlines()] == ["bytes", "cut", "number", "two"]
    assert run_kairos("datasets", "delete", "cut", cwd=tmp_path).returncode == 0
    assert run_kairos("datasets", "set", "two", "2", cwd=tmp_path).returncode == 0
    assert run_kairos("datasets", "get", "two", cwd=tmp_path).stdout == "2\n"
