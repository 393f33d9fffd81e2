"""Temporary folders: deleted by their process, or by the next one after it was killed."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kairos.scratch import ScratchFolder, is_abandoned

HOLD = (
    "from kairos.scratch import ScratchFolder\nmade = ScratchFolder('kairos-x-')\nprint(made.path, flush=True)\ninput()"
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield tmp_path
    tempfile.tempdir = None


def holder():
    process = subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process, Path(process.stdout.readline().strip())


def test_closed_temporary_folder_is_deleted(folder):
    made = ScratchFolder("kairos-x-")
    assert made.path.is_dir()
    made.close()
    assert list(folder.iterdir()) == []


def test_folder_of_killed_process_is_deleted_by_the_next(folder):
    process, path = holder()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert is_abandoned(path) and path.is_dir()
    made = ScratchFolder("kairos-x-")
    assert list(folder.iterdir()) == [made.path]
    made.close()


def test_temporary_folder_in_use_is_kept(folder):
    process, path = holder()
    assert not is_abandoned(path)
    made = ScratchFolder("kairos-x-")
    assert sorted(folder.iterdir()) == sorted([path, made.path])
    made.close()
    process.communicate("\n")


def test_folder_inherited_by_another_process_is_kept_until_its_end(folder):
    made = ScratchFolder("kairos-x-")
    command = [sys.executable, "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(made.lock,)) as process:
        path = made.path
        made.close()
        assert path.is_dir()
        process.communicate(b"\n")
    ScratchFolder("kairos-x-").close()
    assert list(folder.iterdir()) == []


def test_folder_of_creator_killed_before_locking_it_is_deleted_by_the_next(folder):
    with subprocess.Popen(["true"]) as ended:
        pass
    path = folder / f"kairos-x-{ended.pid}-abcdefgh"
    path.mkdir()
    assert is_abandoned(path)
    made = ScratchFolder("kairos-x-")
    assert list(folder.iterdir()) == [made.path]
    made.close()


def test_folder_that_its_creator_has_not_locked_yet_is_kept(folder):
    path = folder / f"kairos-x-{os.getpid()}-abcdefgh"
    path.mkdir()
    ScratchFolder("kairos-x-").close()
    assert not is_abandoned(path) and path.is_dir()


def test_folder_that_its_process_does_not_close_is_deleted_at_its_end(folder):
    process, path = holder()
    process.communicate("\n")
    assert not path.exists()


def test_folder_may_be_closed_twice(folder):
    made = ScratchFolder("kairos-x-", within=folder)
    made.close()
    made.close()
    assert list(folder.iterdir()) == []


def test_folder_of_another_origin_is_kept(folder):
    (folder / "kairos-x-1").mkdir()
    (folder / "kairos-x-2").symlink_to("/")
    (folder / "kairos-x-3").write_text("")
    ScratchFolder("kairos-x-").close()
    assert sorted(os.listdir(folder)) == ["kairos-x-1", "kairos-x-2", "kairos-x-3"]


def test_folder_without_lock_file_is_not_abandoned(folder):
    assert not is_abandoned(folder)
    assert not is_abandoned(folder / "none")
