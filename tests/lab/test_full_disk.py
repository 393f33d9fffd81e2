"""A laboratory whose disk is full for a while, or that is killed while it stores a run: nothing is lost or repeated."""

import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import h5py
import pytest

from kairos.errors import UsageError
from kairos.lab.exports import export
from tests.support.laboratory import Laboratory
from tests.support.waiting import until

EXPERIMENT = """from artiq.experiment import *
from pathlib import Path
import logging
import random
import time

HOME = Path(__file__).parents[1]


class Fills(EnvExperiment):
    def build(self):
        self.setattr_device("scheduler")

    def run(self):
        with (HOME.parent / "begun").open("a") as file:
            print(self.scheduler.rid, file=file)
        while not (HOME.parent / "go").exists():
            time.sleep(0.02)
        for n in range(1000):
            print("line", n)
        logging.error("logged")
        self.set_dataset("kept", list(range(20000)), broadcast=True, persist=True)
        self.set_dataset("points", [], broadcast=True)
        for n in range(1000):
            self.append_to_dataset("points", n)
"""

EDGE = (
    EXPERIMENT
    + """

class Edge(EnvExperiment):
    def build(self):
        self.setattr_argument("number", StringValue())
        self.setattr_argument("place", StringValue())

    def run(self):
        Path(self.place, f"edge-{self.number}").touch()
        while not Path(self.place, f"go-{self.number}").exists():
            time.sleep(0.02)
        self.set_dataset("points", [])
        chance = random.Random(self.number)
        for n in range(20000):
            self.append_to_dataset("points", chance.random())
            print(self.number, n)
"""
)

POINTS = """from artiq.experiment import *


class Points(EnvExperiment):
    '''Writes nothing itself.'''

    def run(self):
        self.set_dataset("points", [], broadcast=True)
        for n in range(1000):
            self.append_to_dataset("points", n)
"""


@pytest.fixture
def small(tmp_path, request):
    """A laboratory on a disk of its own, of 8 MiB, or of another size and with a repository of Git and two commits."""
    place, size = tmp_path / "disk", getattr(request, "param", "8m")
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", place], capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted")
    lab = Laboratory(place, "git = true\n" if hasattr(request, "param") else "")
    (place / "repository" / "fills.py").write_text(EXPERIMENT)
    (place / "repository" / "edge.py").write_text(EDGE)
    (place / "repository" / "points.py").write_text(POINTS)
    git = ["git", "-C", place / "repository", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    commit = ["commit", "-q", "--allow-empty", "-m", "One"]
    for words in (["init", "-q"], ["add", "."], commit, commit):
        subprocess.run([*git, *words], check=True)
    try:
        yield lab.start()
        (place / "filler").unlink(missing_ok=True)
        lab.close()
    finally:
        lab.output.close()
        subprocess.run(["umount", "-l", place], check=True)


def printed_by(lab, rid) -> list[str]:
    """Return the lines of an experiment in the log of its run, among which are others about the disk."""
    lines = lab.file_of(rid).with_suffix(".log").read_text().splitlines()
    return [line for line in lines if "ERROR:kairos.lab." not in line]


def test_run_on_a_full_disk_is_stored_once_there_is_space(small, tmp_path):
    rid = small.submit({"file": "fills.py", "repo_rev": None})
    until((tmp_path / "begun").exists)
    filler = small.folder / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(os.urandom(4096))
    assert shutil.disk_usage(small.folder).free < 8192
    (tmp_path / "go").touch()
    time.sleep(1)  # it tries to write
    with pytest.raises(UsageError, match="No space left|disk is full"):
        small.set_dataset("by hand", "x" * 200_000, True)
    assert small.status_of(rid) is not None
    filler.unlink()
    record = small.ends(rid)
    assert record["status"] == "completed", record["error"]
    with h5py.File(small.file_of(rid)) as file:
        assert file["datasets/points"][()].tolist() == list(range(1000))
    assert printed_by(small, rid) == [*(f"line {n}" for n in range(1000)), "ERROR:root:logged"]
    until(lambda: small.parameter_history("kept"))
    assert json.loads(small.parameter_history("kept")[0]["value"]) == list(range(20000))
    assert (tmp_path / "begun").read_text() == "0\n"
    small.end()
    small.start()
    assert small.datasets()["kept"][1] == list(range(20000)) and small.queue() == []


KILLED = """
import os, signal, sys
from kairos.lab import __main__, queue
queue.Queue.end = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
sys.exit(__main__.main(sys.argv[1]))
"""


def test_run_that_is_stored_when_the_laboratory_is_killed_does_not_run_again(tmp_path):
    lab = Laboratory(tmp_path)
    lab.start()
    try:
        lab.kill()
        script = tmp_path / "killed.py"
        script.write_text(KILLED)
        lab.start([str(script)])
        rid = lab.run_of("Quick")
        assert lab.process.wait(60) == -signal.SIGKILL, "between the files and the index"
        assert list(Path(tmp_path, "results").glob("*/*/*.json"))
        lab.start()
        assert lab.ends(rid)["status"] == "completed" and lab.begun() == [rid]
        assert not list((tmp_path / ".kairos" / "runs").iterdir())
    finally:
        lab.close()


FREE = [0, *(4096 << step for step in range(9))]
"""Bytes that are left on the disk, so that it gets full at one write or another."""


def fill(folder, free):
    """Fill the disk of a folder but for some bytes."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        with suppress(OSError):
            while True:
                file.write(os.urandom(4096))
        with suppress(OSError):
            os.ftruncate(file.fileno(), max(0, os.fstat(file.fileno()).st_size - free))
    return filler


class Acts:
    """What people do to a laboratory, each with a proof that it has been done."""

    def __init__(self, lab):
        self.lab, self.count = lab, 0
        self.proofs = {}
        """By what was acknowledged: whether it is still so."""
        self.refusals = []

    def __call__(self, number):
        """Do everything once."""
        lab, name = self.lab, f"thing {number}"
        held = {"file": "points.py", "class_name": "Points", "repo_rev": None}
        self._try(f"run {number}", lambda: lab.submit(held, held=""), self._is_queued)
        self._try(f"points {number}", lambda: lab.submit(held), self._note_run)
        self._try(f"commit {number}", lambda: lab.submit({**held, "repo_rev": "HEAD~1"}, held=""), self._is_queued)
        self._try(f"dataset {number}", lambda: lab.set_dataset(name, "x" * 3000, True), lambda _: self._has(name))
        self._try(f"growing {number}", lambda: lab.set_dataset("big", [number] * 20000, True), self._is_big)
        self._try(f"entry {number}", lambda: lab.write_entry(name), lambda got: self._is_written(got, name))
        self._try(f"layout {number}", lambda: lab.save_layout(name, '{"a": 1}', 0), lambda _: self._is_laid_out(name))
        self._try(f"tag {number}", lambda: lab.tag(0, name), lambda _: lambda: name in lab.run(0)["tags"])
        self._try(f"note {number}", lambda: lab.note(0, name), lambda _: self._is_noted(name))
        self._try(f"lock {number}", lambda: lab.lock("pipeline", name, 9999), lambda _: self._is_locked(name))
        self._try(f"index {number}", lab.reindex, lambda _: lambda: lab.run(0)["status"] == "completed")
        self._try(
            f"scan {number}", lab.scan, lambda _: lambda: "Writes nothing itself" in lab.experiments()["experiments"]
        )

    def begin_edge(self, number):
        """Begin a run that writes everything that it has measured when `end_edge` is called."""
        arguments = {"number": str(number), "place": str(self.lab.folder.parent)}
        rid = self.lab.submit({"file": "edge.py", "class_name": "Edge", "repo_rev": None, "arguments": arguments}, "e")
        until((self.lab.folder.parent / f"edge-{number}").exists)
        self.proofs[f"edge {number}"] = lambda: self._is_whole(rid, number)

    def end_edge(self, number):
        (self.lab.folder.parent / f"go-{number}").touch()

    def _is_whole(self, rid, number):
        record = self.lab.ends(rid)
        assert record["status"] == "completed", record["error"]
        chance = random.Random(str(number))
        with h5py.File(self.lab.file_of(rid)) as file:
            assert file["datasets/points"][()].tolist() == [chance.random() for _ in range(20000)]
        return printed_by(self.lab, rid) == [f"{number} {n}" for n in range(20000)]

    def _try(self, name, act, proof):
        try:
            got = act()
        except UsageError as error:
            assert "\n" not in str(error) and len(str(error)) > 10, (name, error)
            self.refusals.append(f"{name}: {error}")
        else:
            self.proofs[name] = proof(got)

    def _note_run(self, rid):
        return lambda: self._is_complete(rid)

    def _is_complete(self, rid):
        record = self.lab.ends(rid)
        assert record["status"] == "completed", record["error"]
        with h5py.File(self.lab.file_of(rid)) as file:
            return file["datasets/points"][()].tolist() == list(range(1000))

    def _is_queued(self, rid):
        return lambda: self.lab.status_of(rid) == "pending"

    def _has(self, name):
        return lambda: self.lab.dataset(name)[1] == "x" * 3000

    def _is_big(self, _):
        self.proofs = {name: each for name, each in self.proofs.items() if not name.startswith("growing")}
        known = self.lab.dataset("big")[1]
        return lambda: self.lab.dataset("big")[1] == known

    def _is_written(self, number, text):
        return lambda: any((each["number"], each["text"]) == (number, text) for each in self.lab.logbook())

    def _is_laid_out(self, name):
        return lambda: self.lab.layout(name)["content"] == '{"a": 1}'

    def _is_noted(self, text):
        return lambda: text in [each["text"] for each in self.lab.run(0)["notes"]]

    def _is_locked(self, name):
        return lambda: name in [each["name"] for each in self.lab.locks()]

    def prove(self):
        for name, proof in self.proofs.items():
            assert proof(), f"{name} was acknowledged; refused: {self.refusals}"


@pytest.mark.long
@pytest.mark.parametrize("small", ["32m"], indirect=True)
def test_disk_that_gets_full_at_any_write_keeps_all_that_was_acknowledged(small):
    lab, acts = small, Acts(small)
    until(lambda: "Writes nothing itself" in lab.experiments()["experiments"])
    lab.ends(lab.submit({"file": "points.py", "class_name": "Points", "repo_rev": None}))
    for number, free in enumerate(FREE):
        acts.begin_edge(number)
        filler = fill(lab.folder, free)
        acts.end_edge(number)
        acts(number)
        filler.unlink()
        acts.prove()
        # The service goes on.
        before = len(acts.refusals)
        acts(number + 1000)
        assert len(acts.refusals) == before, acts.refusals[before:]
        acts.prove()
        newest = lab.log(1)[0][3].splitlines()[0]
        log = (lab.folder / ".kairos" / "lab.log").read_text()
        assert newest in log and "\0" not in log, "what is logged gets into the file again"
    assert acts.refusals, "the disk was never full"
    filler = fill(lab.folder, 0)
    lab.end()
    filler.unlink()
    lab.start()
    until(lambda: "Writes nothing itself" in lab.experiments()["experiments"])
    acts.prove()


@pytest.mark.parametrize("small", ["12m"], indirect=True)
def test_commit_that_the_full_disk_does_not_take_is_refused_with_this_reason(small):
    """Git says only that it was unable to write a file."""
    fill(small.folder, 0)
    with pytest.raises(UsageError, match=r"^the files of the commit \w+ cannot be written: the disk is full: less"):
        export(small.folder / "repository", "HEAD", small.folder / "exported")


@pytest.mark.parametrize("small", ["12m"], indirect=True)
def test_full_disk_refuses_entries_layouts_and_runs_in_a_line_until_there_is_room(small):
    lab = small
    filler, number = fill(lab.folder, 0), itertools.count()
    for act in (
        lambda: lab.write_entry("entry " * 2000),
        lambda: lab.save_layout(f"mine {next(number)}", json.dumps({"text": "x" * 20000}), 0),
        lambda: lab.submit({"file": "fills.py", "repo_rev": None, "arguments": {"text": "x" * 20000}}),
    ):
        with pytest.raises(UsageError, match="disk is full|No space left") as failed:
            for _ in range(20):  # what is free in the database's own files may take some
                act()
        assert "\n" not in str(failed.value)
    entries, queued = lab.logbook(), len(lab.queue())
    known = None
    with pytest.raises(UsageError):
        for number in range(1000):
            lab.set_dataset("set", [number] * 500, True)
            known = number
    assert (lab.dataset("set") or (None, [None]))[1][0] == known, "a refused value is not there"
    filler.unlink()
    assert lab.write_entry("later") > len(entries) and lab.save_layout("yours", '{"a": 1}', 0) == 1
    assert lab.logbook()[1:] == entries and len(lab.queue()) == queued
