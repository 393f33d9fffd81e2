"""Files of results: an earlier run's are replaced only by those of a run that has completed."""

import errno
import fcntl
import subprocess
import sys
from pathlib import Path

import h5py
import pytest

from kairos.errors import UsageError
from kairos.lab.claims import Claim
from kairos.runs import FolderLock, ResultsFile, RIDCounter
from tests.support.host_experiments import Runner, experiment

SETS = 'self.set_dataset("x", 3)'
FAILS = "self.missing"


@pytest.fixture
def kairos(tmp_path):
    return Runner(tmp_path)


def datasets(path):
    with h5py.File(path) as file:
        return {name: item[()] for name, item in file["datasets"].items()} | {"rid": int(file["rid"][()])}


@pytest.mark.parametrize(
    "source, text",
    [
        (experiment(FAILS), "no attribute"),
        ("def broken(:\n", "SyntaxError"),
        (experiment("pass", FAILS), "no attribute"),
    ],
    ids=["in run", "syntax", "in build"],
)
def test_failed_run_without_datasets_keeps_existing_file(kairos, source, text):
    assert kairos(experiment(SETS), "-o", "out.h5").returncode == 0
    done = kairos(source, "-o", "out.h5")
    assert done.returncode == 1 and text in done.stderr
    assert datasets(kairos.directory / "out.h5") == {"x": 3, "rid": 0}


def test_failed_run_with_datasets_writes_next_to_existing_file(kairos):
    assert kairos(experiment(SETS), "-o", "out.h5").returncode == 0
    for name in ("out-incomplete.h5", "out-incomplete-2.h5"):
        done = kairos(experiment(f'self.set_dataset("y", 4); {FAILS}'), "-o", "out.h5")
        assert done.returncode == 1 and f"wrote {name}" in done.stdout
        assert datasets(kairos.directory / name) == {"y": 4, "rid": 1}
    assert datasets(kairos.directory / "out.h5") == {"x": 3, "rid": 0}


def test_completed_run_replaces_existing_file_and_counts(kairos):
    for rid in range(3):
        done = kairos(experiment(SETS), "-o", "out.h5")
        assert "wrote out.h5" in done.stdout
        assert datasets(kairos.directory / "out.h5") == {"x": 3, "rid": rid}


def test_directory_gets_dated_numbered_files(kairos):
    source = experiment('self.setattr_device("scheduler"); self.set_dataset("x", self.scheduler.rid)')
    for _ in range(2):
        assert kairos(source, "-o", "results/").returncode == 0
    assert kairos(source, "-o", "results").returncode == 0, "an existing directory needs no slash"
    files = sorted((kairos.directory / "results").glob("????-??-??/??/*.h5"))
    assert [path.name for path in files] == [f"{rid:09d}-Exp.h5" for rid in range(3)]
    assert [datasets(path) for path in files] == [{"x": rid, "rid": rid} for rid in range(3)]


def test_counters_of_several_processes_never_repeat_a_number(tmp_path):
    program = "from kairos.runs import RIDCounter\nfor _ in range(50): print(RIDCounter().get())"
    processes = [
        subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    numbers = [int(line) for process in processes for line in process.communicate()[0].split()]
    assert sorted(numbers) == list(range(150))


def test_counters_of_one_process_share_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    one, other = RIDCounter(), RIDCounter()
    assert [one.get(), other.get(), one.get()] == [0, 1, 2]


def test_laboratory_and_runs_with_the_same_results_share_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    laboratory = RIDCounter("last_rid.pyon", "results")
    assert [laboratory.get(), laboratory.get(), ResultsFile("results/").next_rid()] == [0, 1, 2]
    assert [laboratory.get(), RIDCounter().get(), ResultsFile("results").next_rid()] == [3, 4, 5]


def results_of(folder, *names):
    for name in names:
        (folder / "results" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "results" / name).touch()


def test_counter_without_its_file_continues_from_all_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results_of(tmp_path, "2026-01-01/10/000000041-A.h5", "2026-01-02/09/000000007-A.h5", "2026-01-02/09/notes.h5")
    assert RIDCounter().get() == 42


@pytest.mark.parametrize("kept, number", [("3\n", 8), ("100\n", 101), ("not a number", 42)])
def test_counter_with_an_old_copy_of_its_file_continues_from_newest_results(tmp_path, monkeypatch, kept, number):
    monkeypatch.chdir(tmp_path)
    results_of(tmp_path, "2026-01-01/10/000000041-A.h5", "2026-01-02/09/000000007-A.h5", "2026-01-02/11/notes.txt")
    Path("last_rid.pyon").write_text(kept)
    assert RIDCounter().get() == number


def test_counter_lists_no_folder_but_the_newest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hours = [f"2026-01-0{day}/{hour}" for day in (1, 2, 3) for hour in (10, 11)]
    results_of(tmp_path, *(f"{hour}/{rid:09d}-A.h5" for rid, hour in enumerate(hours)))
    Path("last_rid.pyon").write_text("5\n")
    listed, iterdir = [], Path.iterdir
    monkeypatch.setattr(Path, "iterdir", lambda path: listed.append(str(path)) or iterdir(path))
    assert RIDCounter().get() == 6
    assert listed == ["results", "results/2026-01-03", "results/2026-01-03/11"]


def test_file_without_results_gets_run_number_zero(tmp_path):
    path = tmp_path / "notes.h5"
    path.write_text("not HDF5")
    assert ResultsFile(str(path)).next_rid() == 0


def test_file_that_another_run_has_written_meanwhile_is_kept(tmp_path):
    path = tmp_path / "same.h5"
    first, second = ResultsFile(str(path)), ResultsFile(str(path))
    assert first.path(0, "A", 0.0, True) == path and not first.was_changed
    assert second.path(0, "A", 0.0, True) == tmp_path / "same-2.h5" and second.was_changed, "even before it has written"
    second.give_up(tmp_path / "same-2.h5")
    assert not (tmp_path / "same-2.h5").exists()
    path.write_text("of the first")
    third = ResultsFile(str(path))
    assert third.path(0, "A", 0.0, True) == path, "of a run that begins later"
    path.write_text("of somebody else")
    assert third.path(0, "A", 0.0, True) == tmp_path / "same-2.h5"
    assert third.path(0, "A", 0.0, False) == tmp_path / "same-incomplete.h5"
    assert third.path(0, "A", 0.0, False) == tmp_path / "same-incomplete-2.h5"


def test_folder_without_locks_is_reported_in_one_line(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.chdir(tmp_path)
    counter = RIDCounter()
    monkeypatch.setattr(fcntl, "flock", refuse)
    for use in (counter.get, FolderLock(tmp_path).acquire, lambda: Claim(tmp_path, tmp_path)):
        with pytest.raises(UsageError, match="cannot be locked: No locks available"):
            use()
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="file cannot be created: File exists"):
        Claim(tmp_path, tmp_path / "file")
