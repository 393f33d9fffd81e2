"""The file of datasets belongs to one laboratory, whatever another one calls it."""

import os
import subprocess
import sys

import pytest

from tests.support.command import bounded
from tests.support.laboratory import Laboratory

MASTER = """
import lmdb, sys, time
store = lmdb.open(sys.argv[1], subdir=False)
print("open", flush=True)
time.sleep(600)
"""


def refused(folder, name) -> str:
    """Return what a laboratory says that does not start, whose `dataset_db` has this name."""
    folder.mkdir(exist_ok=True)
    other = Laboratory(folder, f"dataset_db = '{name}'\n")
    with pytest.raises(AssertionError) as failed:
        other.start()
    other.output.close()
    return [line for line in str(failed.value).splitlines() if "dataset store" in line][-1]


def test_dataset_file_with_any_name_belongs_to_the_first_laboratory(lab, tmp_path):
    # Before anything persists, and with something in it.
    first = tmp_path / "dataset_db.mdb"
    for key in (None, "kept"):
        if key is not None:
            lab.set_dataset(key, 1.5, True)
        other = tmp_path / "other"
        other.mkdir(exist_ok=True)
        for name, make in (("linked.mdb", os.symlink), ("hard.mdb", os.link)):
            (other / name).unlink(missing_ok=True)
            make(first, other / name)
        for name in ("linked.mdb", "hard.mdb", "../dataset_db.mdb", first):
            assert f"belongs to the laboratory in {tmp_path} (process {lab.process.pid})" in refused(other, name)
    assert lab.datasets()["kept"][1] == 1.5
    lab.end()
    successor = Laboratory(other, "dataset_db = 'hard.mdb'\n").start()
    assert successor.datasets()["kept"][1] == 1.5
    successor.close()
    lab.start()


def test_dataset_file_of_an_artiq_master_is_refused_by_name(tmp_path):
    program = tmp_path / "artiq_master"
    program.write_text(MASTER)
    command = [sys.executable, program, tmp_path / "dataset_db.mdb"]
    with bounded(subprocess.Popen(command, stdout=subprocess.PIPE, text=True)) as master:
        assert master.stdout.readline() == "open\n"
        said = refused(tmp_path / "lab", "../dataset_db.mdb")
    assert f"in use by an ARTIQ master (process {master.pid}): stop it, or" in said
