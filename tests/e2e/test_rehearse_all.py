"""`kairos rehearse --all` and the pytest plugin: every experiment of a repository, with its defaults."""

import json
import subprocess
import sys

import pytest

from tests.support import TIMEOUT
from tests.support.paths import EXAMPLES

FINE = """from artiq.experiment import *


class Fine(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")

    @kernel
    def run(self):
        self.core.reset()
        self.ttl4.pulse(1 * us)

    def analyze(self):
        self.set_dataset("answer", 41.5)
        self.set_dataset("curve", [1.0, 2.0])


class Asks(Fine):
    def build(self):
        super().build()
        self.setattr_argument("n", NumberValue())
"""
LATE = FINE.partition("\n\n\nclass Asks")[0].replace("Fine", "Late").replace("self.ttl4", "delay(-1 * ms); self.ttl4")


@pytest.fixture
def repository(tmp_path):
    (tmp_path / "device_db.py").write_text((EXAMPLES / "device_db.py").read_text())
    folder = tmp_path / "repository"
    (folder / "more").mkdir(parents=True)
    (folder / "fine.py").write_text(FINE)
    (folder / "more" / "late.py").write_text(LATE)
    (folder / "broken.py").write_text("import nothing_like_this\n")
    return folder


def test_all_experiments_of_a_folder_are_listed_and_compared(kairos, repository):
    words = ["rehearse", "--all", repository, "--record", "new.json"]
    done = kairos(*words)
    lines = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert done.returncode == 1 and set(lines) == {
        "fine.py:Fine", "fine.py:Asks", "more/late.py:Late", "broken.py"
    }  # fmt: skip
    assert lines["fine.py:Fine"].startswith("rehearsed: ") and "has no default" in lines["fine.py:Asks"]
    assert "RTIOUnderflow" in lines["more/late.py:Late"] and lines["broken.py"].startswith(
        "is impossible: broken.py:1: ModuleNotFoundError: No module named"
    )
    (repository / "more" / "late.py").unlink()
    (repository / "broken.py").unlink()
    assert kairos("rehearse", "--all", repository, "--record", "new.json").returncode == 0
    same = kairos("rehearse", "--all", repository, "--against", "new.json")
    assert same.returncode == 0 and "before" not in same.stdout
    (repository / "fine.py").write_text(FINE.replace("1 * us", "2 * us").replace("41.5", "42.0"))
    other = kairos("rehearse", "--all", repository, "--against", "new.json", "--json")
    found = {entry["name"]: entry for entry in map(json.loads, other.stdout.splitlines())}
    assert other.returncode == 1 and "another waveform" in found["fine.py:Fine"]["changes"]
    assert "answer 42, 41.5 before" in found["fine.py:Fine"]["changes"]
    assert found["fine.py:Fine"]["figures"] == {"answer": 42.0, "mean of curve": 1.5}
    assert kairos("rehearse", "fine.py", "--record", "x.json").returncode == 2
    (repository / "other.json").write_text('{"fine.py:Fine": 3}')
    wrong = kairos("rehearse", "--all", repository, "--against", repository / "other.json")
    assert wrong.returncode == 1 and "'kairos rehearse --all --record' has not written it" in wrong.stderr
    (repository / "empty").mkdir()
    nothing = kairos("rehearse", "--all", repository / "empty")
    assert nothing.returncode == 1 and "there are no experiments in" in nothing.stderr


def test_pytest_rehearses_the_experiments_of_a_repository(repository):
    command = [sys.executable, "-m", "pytest", "-p", "kairos.testing.repository", "-p", "no:cacheprovider", "-v"]
    done = subprocess.run(
        [*command, "--rehearse", "repository", "repository"],
        cwd=repository.parent, capture_output=True, text=True, timeout=TIMEOUT,
    )  # fmt: skip
    assert "2 failed, 1 passed, 1 skipped" in done.stdout, done.stdout
    assert "broken.py::import FAILED" in done.stdout and "broken.py:1: in <module>" not in done.stdout
    assert "No module named 'nothing_like_this'" in done.stdout
    assert "fails at late.py:12: RTIOUnderflow in pass 1" in done.stdout


def test_pytest_refuses_a_folder_that_does_not_exist(repository):
    command = [sys.executable, "-m", "pytest", "-p", "kairos.testing.repository", "--rehearse", "elsewhere"]
    done = subprocess.run(command, cwd=repository.parent, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 4 and "--rehearse elsewhere: there is no such folder" in done.stderr, done.stderr
