"""Runs that wait for one another, each in its own process; no device is needed."""

import asyncio
import os
import re
import subprocess
import sys
import time

import h5py
import pytest

from kairos.errors import UsageError
from kairos.experiment.datasets import DatasetDB
from kairos.schedule import (
    ExperimentDB,
    FilesystemBackend,
    GitBackend,
    RIDCounter,
    Scheduler,
    Worker,
    WorkerError,
    WorkerInternalException,
    WorkerTimeout,
    WorkerWatchdogTimeout,
)
from tests.support import TIMEOUT

EXPERIMENTS = '''"""Experiments of a laboratory."""
import os
import time
from artiq.experiment import *


class Quick(EnvExperiment):
    """A quick one.

    More of it."""
    argument_ui = "special"

    def build(self):
        self.setattr_argument("n", NumberValue(3, precision=0, step=1, type="int"), "group", "tip")
        self.setattr_device("scheduler")
        self.setattr_device("ccb")
        self.set_default_scheduling(priority=2)

    def prepare(self):
        self.set_dataset("prepared", True)

    def run(self):
        self.set_dataset("n", self.n, broadcast=True)
        self.set_dataset("list", [], broadcast=True)
        for number in range(self.n):
            self.append_to_dataset("list", number)
        self.ccb.issue("create_applet", "plot", group="a")
        own = self.scheduler
        self.set_dataset("who", [own.rid, own.pipeline_name, own.priority], broadcast=True)
        self.set_dataset("read", self.get_dataset("of others", archive=False), broadcast=True)

    def analyze(self):
        self.set_dataset("analyzed", os.getcwd(), broadcast=True)


class Patient(EnvExperiment):
    """Slow/one"""
    def build(self):
        self.setattr_device("scheduler")
        self.setattr_argument("mark", StringValue("patient"))

    def run(self):
        self.set_dataset(self.mark, "began", broadcast=True)
        while not self.scheduler.check_termination() and self.get_dataset("go on", 0, archive=False) == 0:
            self.scheduler.pause()
            time.sleep(0.02)
        self.scheduler.pause()
        self.set_dataset(self.mark, "went on", broadcast=True)


class Broken(EnvExperiment):
    def run(self):
        self.set_dataset("measured", 5)
        raise ValueError("of the user")


class Watched(EnvExperiment):
    def run(self):
        with watchdog(30):
            pass
        with watchdog(0.2):
            time.sleep(60)


class Submits(EnvExperiment):
    def build(self):
        self.setattr_device("scheduler")

    def run(self):
        own = self.scheduler
        rid = own.submit(expid={**own.expid, "class_name": "Quick", "arguments": {"n": 1}}, priority=own.priority + 1)
        self.set_dataset("submitted", [rid, own.get_status()[rid]["status"], own.check_pause(rid)], broadcast=True)


class Dies(EnvExperiment):
    def run(self):
        os._exit(7)


class Sleeps(EnvExperiment):
    def build(self):
        time.sleep(60)
'''


@pytest.fixture
def laboratory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository" / "lab.py").write_text(EXPERIMENTS)
    return Laboratory(tmp_path)


class Laboratory:
    """A scheduler with datasets, and the history of its runs' states."""

    def __init__(self, path):
        self.path = path
        self.datasets = DatasetDB()
        self.datasets.set("of others", [1, 2])
        self.issued = []
        self.history = []
        self.handlers = {
            "ccb.issue": lambda *args, **kwargs: self.issued.append((args, kwargs)),
            "device_db.get_device_db": lambda: {},
            "datasets.get": self.datasets.get,
            "datasets.get_metadata": self.datasets.get_metadata,
            "datasets.set": self.datasets.set,
            "datasets.delete": self.datasets.delete,
        }

    def expid(self, name, file="repository/lab.py", **arguments):
        return {"file": file, "class_name": name, "arguments": arguments, "log_level": 30}

    def run(self, act):
        """Runs `act`, a coroutine function that takes the scheduler, to completion."""

        async def whole():
            scheduler = Scheduler(RIDCounter(), self.handlers)
            scheduler.start()
            watching = asyncio.create_task(self.watch(scheduler))
            try:
                return await asyncio.wait_for(act(scheduler), 120)
            finally:
                await scheduler.stop()
                watching.cancel()

        return asyncio.run(whole())

    async def watch(self, scheduler):
        while True:
            states = {rid: run["status"] for rid, run in scheduler.get_status().items()}
            if not self.history or self.history[-1] != states:
                self.history.append(states)
            await asyncio.sleep(0.002)

    def of(self, key):
        return self.datasets.data[key].value if key in self.datasets.data else None


async def until(condition):
    while not condition():
        await asyncio.sleep(0.01)


def test_run_passes_its_stages_and_writes_results(laboratory):
    async def act(scheduler):
        assert scheduler.submit("main", laboratory.expid("Quick", n=4), priority=3) == 0
        assert scheduler.get_status()[0]["priority"] == 3
        await scheduler.wait()

    laboratory.run(act)
    assert (laboratory.of("n"), laboratory.of("list")) == (4, [0, 1, 2, 3])
    assert laboratory.of("who") == [0, "main", 3] and laboratory.of("read") == [1, 2]
    assert laboratory.issued == [(("create_applet", "plot"), {"group": "a"})]
    folder = laboratory.of("analyzed")
    assert re.fullmatch(r".*/results/\d{4}-\d\d-\d\d/\d\d", folder)
    with h5py.File(f"{folder}/000000000-Quick.h5") as file:
        assert file["rid"][()] == 0 and sorted(file["datasets"]) == ["analyzed", "list", "n", "prepared", "read", "who"]
        assert b'"n": 4' in file["expid"][()]
    passed = list(dict.fromkeys(states[0] for states in laboratory.history if 0 in states))
    order = ["preparing", "prepare_done", "running", "run_done", "analyzing", "deleting"]
    assert passed == [state for state in order if state in passed] and "preparing" in passed
    assert RIDCounter().get() == 1, "numbers go on"
    os.remove("last_rid.pyon")
    assert RIDCounter().get() == 2, "also by the file in the folder of results"
    os.remove("last_rid.pyon")
    os.remove("results/last_rid.pyon")
    assert RIDCounter().get() == 1, "also by what is in that folder"


def test_run_deleted_before_its_first_step_ends(laboratory):
    async def act(scheduler):
        scheduler.delete(scheduler.submit("main", laboratory.expid("Quick", n=4)))
        await asyncio.wait_for(scheduler.wait(), TIMEOUT)

    laboratory.run(act)
    assert laboratory.of("n") is None


def test_run_pauses_for_higher_priority(laboratory):
    async def act(scheduler):
        scheduler.submit("main", laboratory.expid("Patient", mark="low"))
        await until(lambda: laboratory.of("low") == "began")
        assert not scheduler.check_pause(0)
        scheduler.submit("main", laboratory.expid("Patient", mark="high"), priority=1)
        await until(lambda: laboratory.of("high") == "began")
        assert scheduler.get_status()[0]["status"] == "paused"
        scheduler.submit("other", laboratory.expid("Quick"))
        await until(lambda: laboratory.of("n") is not None)
        laboratory.datasets.set("go on", 1)
        await scheduler.wait()

    laboratory.run(act)
    assert laboratory.of("low") == laboratory.of("high") == "went on"
    assert not any(list(states.values()).count("running") > 2 for states in laboratory.history)


def test_running_and_waiting_runs_are_terminated(laboratory):
    async def act(scheduler):
        began = time.monotonic()
        scheduler.submit("main", laboratory.expid("Patient", mark="asked"))
        scheduler.submit("main", laboratory.expid("Patient", mark="later"))
        scheduler.submit("main", laboratory.expid("Sleeps"), due_date=time.time() + 1000)
        await until(lambda: laboratory.of("asked") == "began")
        scheduler.request_termination(2)
        assert scheduler.get_status()[2]["status"] == "deleting", "it had not begun"
        scheduler.request_termination(0)
        await until(lambda: laboratory.of("later") == "began")
        scheduler.delete(1)
        scheduler.delete(77)
        await scheduler.wait()
        assert time.monotonic() - began < 60

    laboratory.run(act)
    assert laboratory.of("asked") == "began" and laboratory.of("later") == "began"


def test_failed_run_is_reported_and_others_continue(laboratory, caplog):
    async def act(scheduler):
        for name in ("Broken", "Watched", "Dies", "Missing", "Quick"):
            scheduler.submit("main", laboratory.expid(name))
        scheduler.submit("main", laboratory.expid("Quick", unknown=1))
        await scheduler.wait()

    laboratory.run(act)
    assert laboratory.of("n") == 3
    errors = {record.args[0]: record.getMessage() for record in caplog.records if record.levelname == "ERROR"}
    assert "run 0 has failed while running: the experiment raised an exception" in errors[0]
    assert 'raise ValueError("of the user")' in errors[0]
    assert "run 1 has failed while running: a watchdog has expired during run" in errors[1]
    assert "run 2 has failed while running: the worker process died during run (exit code 7)" in errors[2]
    assert "has no experiment 'Missing'; it has Quick, Patient" in errors[3]
    assert "Supplied argument(s) not queried in experiment: unknown" in errors[5]
    (file,) = laboratory.path.glob("results/*/*/000000000-Broken.h5")
    with h5py.File(file) as results:
        assert results["datasets/measured"][()] == 5


def test_due_dates_flush_and_submissions_by_runs_are_honoured(laboratory):
    async def act(scheduler):
        due = time.time() + 1.0
        scheduler.submit("main", laboratory.expid("Quick", n=1), due_date=due, priority=5)
        scheduler.submit("main", laboratory.expid("Submits"))
        await until(lambda: laboratory.of("submitted") is not None)
        await scheduler.wait()
        assert time.time() >= due
        first = scheduler.submit("main", laboratory.expid("Patient", mark="before"))
        await until(lambda: laboratory.of("before") == "began")
        flushed = scheduler.submit("main", laboratory.expid("Quick"), flush=True)
        await until(lambda: scheduler.get_status()[flushed]["status"] == "flushing")
        laboratory.datasets.set("go on", 1)
        await scheduler.wait()
        return first, flushed

    first, flushed = laboratory.run(act)
    rid, status, pause = laboratory.of("submitted")
    assert rid == 2 and status in ("pending", "preparing") and pause is False
    assert not any(first in states and states.get(flushed) == "preparing" for states in laboratory.history)


def test_worker_executes_stages_and_stops_at_watchdog(laboratory):
    async def whole():
        worker = Worker(laboratory.handlers)
        try:
            await worker.build(9, "main", "repository", laboratory.expid("Quick", file="lab.py"), 0)
            await worker.prepare()
            assert await worker.run() is True
            await worker.analyze()
            with pytest.raises(WorkerInternalException, match="there is no file"):
                await worker.examine("examine", "none.py")
        finally:
            await worker.close()
        for name, error in (("Sleeps", WorkerTimeout), ("Broken", WorkerInternalException), ("Dies", WorkerError)):
            worker = Worker(laboratory.handlers)
            with pytest.raises(error):
                timeout = 2.0 if name == "Sleeps" else TIMEOUT
                await worker.build(1, "main", None, laboratory.expid(name), 0, timeout=timeout)
                await worker.run()
            await worker.close(0.1)
        worker = Worker({})
        with pytest.raises(WorkerInternalException, match="this run has no datasets.set"):
            content = {"content": EXPERIMENTS, "class_name": "Quick", "arguments": {}}
            await worker.build(1, "main", None, content, 0)
            await worker.run()
        await worker.close()
        worker = Worker(laboratory.handlers)
        with pytest.raises(WorkerWatchdogTimeout):
            await worker.build(1, "main", None, laboratory.expid("Watched"), 0)
            await worker.run()
        await worker.close(0.1)

    asyncio.run(whole())
    assert laboratory.of("who") == [9, "main", 0]
    assert (laboratory.path / "000000009-Quick.h5").exists()


def git(path, *words):
    subprocess.run(
        ["git", "-C", path, "-c", "user.name=a", "-c", "user.email=a@b.c", *words], check=True, capture_output=True
    )


def test_experiments_of_a_folder_are_listed(laboratory, caplog):
    folder = laboratory.path / "repository"
    (folder / "deeper").mkdir()
    (folder / "deeper" / "more.py").write_text(EXPERIMENTS.partition("class Patient")[0])
    (folder / "second.py").write_text(EXPERIMENTS.partition("class Patient")[0])
    (folder / ".hidden.py").write_text("1 / 0")
    (folder / "broken.py").write_text("1 / 0")
    (folder / "lab.py").write_text(EXPERIMENTS.partition("class Sleeps")[0])
    database = ExperimentDB(FilesystemBackend(folder), laboratory.handlers)
    asyncio.run(database.scan_repository())
    assert sorted(database.explist) == [
        "A quick one",
        "A quick one1",
        "Broken",
        "Dies",
        "Slow_one",
        "Submits",
        "Watched",
        "deeper/A quick one",
    ]
    assert database.explist["A quick one1"]["file"] == "second.py"
    quick = database.explist["A quick one"]
    assert (quick["file"], quick["class_name"], quick["argument_ui"]) == ("lab.py", "Quick", "special")
    assert quick["scheduler_defaults"] == {"priority": 2}
    described, group, tooltip = quick["arginfo"]["n"]
    assert (described["ty"], described["default"], group, tooltip) == ("NumberValue", 3, "group", "tip")
    assert "broken.py is passed over" in caplog.text and "ZeroDivisionError" in caplog.text
    assert sorted(database.list_directory(folder)) == [".hidden.py", "broken.py", "deeper/", "lab.py", "second.py"]
    assert "/tmp/" in database.list_directory("") and database.root() == str(folder)
    assert sorted(asyncio.run(database.examine("deeper/more.py"))) == ["Quick"]
    assert sorted(asyncio.run(database.examine(str(folder / "deeper/more.py"), use_repository=False))) == ["Quick"]
    below = ExperimentDB(FilesystemBackend(folder), laboratory.handlers, "deeper")
    asyncio.run(below.scan_repository())
    assert below.explist["A quick one"]["file"] == "deeper/more.py"


def test_run_uses_requested_git_revision(laboratory):
    folder = laboratory.path / "repository"
    (folder / "lab.py").write_text(EXPERIMENTS.partition("class Sleeps")[0])
    git(folder, "init", "-q")
    git(folder, "add", "lab.py")
    git(folder, "commit", "-q", "-m", "First\n\nof two")
    first = GitBackend(folder).get_head_rev()
    (folder / "lab.py").write_text("raise RuntimeError")
    git(folder, "commit", "-aqm", "Second")

    async def whole():
        backend = GitBackend(folder)
        database = ExperimentDB(backend, laboratory.handlers)
        scheduler = Scheduler(RIDCounter(), laboratory.handlers, database, "submissions.txt")
        expid = laboratory.expid("Quick", file="lab.py")
        rid = scheduler.submit("main", {**expid, "repo_rev": first})
        assert scheduler.get_status()[rid]["repo_msg"] == "First\n\nof two"
        scheduler.start()
        await scheduler.wait()
        with pytest.raises(UsageError, match="repository: fatal"):
            scheduler.submit("main", {**expid, "repo_rev": "0000"})
        await asyncio.wait_for(database.scan_repository_async(first), 60)
        assert "A quick one" in database.explist and database.cur_rev == first
        await database.scan_repository()
        assert database.explist == {}, "the present one is broken"
        assert list(backend._folders) == [database.cur_rev], "what nobody needs is gone"
        with pytest.raises(WorkerError, match="has no repository"):
            Scheduler(RIDCounter(), {}).submit("main", {**expid, "repo_rev": None})

    asyncio.run(whole())
    assert laboratory.of("n") == 3
    assert re.fullmatch(r"0,\d+\.\d+,lab\.py\r\n", (laboratory.path / "submissions.txt").read_bytes().decode())
    with pytest.raises(UsageError, match="not a git repository"):
        GitBackend(laboratory.path)


SECOND = """
import asyncio
from kairos.schedule import RIDCounter, Scheduler


async def main():
    scheduler = Scheduler(RIDCounter())
    scheduler.start()
    print("started", flush=True)
    input()


asyncio.run(main())
"""


def test_second_scheduler_of_folder_is_refused(tmp_path, monkeypatch):
    def start():
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([sys.executable, "-c", SECOND], cwd=tmp_path, text=True, **pipes)

    monkeypatch.chdir(tmp_path)
    first = start()
    assert first.stdout.readline() == "started\n"
    _, error = start().communicate(timeout=TIMEOUT)
    said = f"a scheduler uses {tmp_path} already (process {first.pid}): stop it, or start this one in another folder"
    assert error.splitlines()[-1].endswith(said)
    with pytest.raises(UsageError, match="another folder"):
        Scheduler().start()
    # A scheduler that was killed leaves nothing behind.
    first.kill()
    first.communicate()

    async def twice():
        one, other = Scheduler(), Scheduler()
        one.start()
        other.start()
        await one.stop()
        blocked = start()
        assert "already" in blocked.communicate(timeout=TIMEOUT)[1], "the other one still runs"
        await other.stop()

    asyncio.run(twice())
    after = start()
    assert after.communicate("\n", timeout=TIMEOUT)[0] == "started\n"
