"""A laboratory whose disk is full for a while, or that is killed while it stores a run: nothing is lost or repeated."""

import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import h5py
import pytest

from kairos.errors import UsageError
from tests.support.laboratory import Laboratory
from tests.support.waiting import until

EXPERIMENT = """from artiq.experiment import *
from pathlib import Path
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
        self.set_dataset("kept", list(range(20000)), broadcast=True, persist=True)
        self.set_dataset("points", [], broadcast=True)
        for n in range(1000):
            self.append_to_dataset("points", n)
"""


@pytest.fixture
def small(tmp_path):
    """A laboratory on a disk of its own of 8 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", place], capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted")
    lab = Laboratory(place)
    (place / "repository" / "fills.py").write_text(EXPERIMENT)
    try:
        yield lab.start()
        (place / "filler").unlink(missing_ok=True)
        lab.close()
    finally:
        lab.output.close()
        subprocess.run(["umount", "-l", place], check=True)


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
