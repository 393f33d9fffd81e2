"""Device databases that load other files: from their own folder, and again in the file of a run."""

import ast

import numpy as np
import pytest

from kairos.cli.provenance import Provenance
from kairos.devices import DeviceDB, database_of, whole_text

CORE = {"type": "local", "module": "kairos.coredevice.core", "class": "Core", "arguments": {"host": None}}
LOADERS = [
    'import runpy\nfrom pathlib import Path\ndevice_db = runpy.run_path(Path(__file__).parents[1] / "base.py")["db"]',
    'import os\nexec(open(os.path.join(os.path.dirname(os.path.dirname(__file__)), "base.py")).read())\ndevice_db = db',
    "names = {}\nexec(open(__file__.replace('own/device_db.py', 'base.py')).read(), names)\ndevice_db = names['db']",
]


@pytest.mark.parametrize("loader", LOADERS)
def test_database_that_loads_another_is_complete_in_the_file_of_a_run(loader, tmp_path, monkeypatch):
    own = tmp_path / "own"
    own.mkdir()
    (tmp_path / "base.py").write_text(f"db = {{'core': {CORE!r}, 'alias': 'core'}}\n")
    (own / "device_db.py").write_text(f"{loader}\n")
    monkeypatch.chdir(own)
    database = DeviceDB.load("device_db.py")  # by a relative name, as typed
    values = Provenance(own / "scan.py", database.path, entries=database.entries).values({})
    before = values["hash"]
    (tmp_path / "base.py").unlink()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert database_of(values, elsewhere).entries == {"core": CORE, "alias": "core"}
    (tmp_path / "base.py").write_text(f"db = {{'core': {CORE | {'best_effort': True}!r}}}\n")
    database = DeviceDB.load("device_db.py")
    assert Provenance(own / "scan.py", database.path, entries=database.entries).values({})["hash"] != before


def test_database_in_one_file_is_its_own_text():
    text = "device_db = {'core': dict(type='local')}\nfor n in range(3):\n    device_db[f'ttl{n}'] = 'core'\n"
    assert whole_text(text, {"core": {"type": "local"}}) == text


def test_entries_of_other_types_are_written_as_pythons_own():
    entries = {"a": {"n": np.int64(3), "x": np.float64(0.5), "t": (1, {2}), "b": b"\x00"}}
    text = whole_text("import numpy\n", entries)
    assert ast.literal_eval(text.partition("=")[2].strip()) == {"a": {"n": 3, "x": 0.5, "t": (1, {2}), "b": b"\x00"}}
    without_text = "import lasers\n"
    assert whole_text(without_text, {"a": {"driver": object()}}) == without_text


def test_broken_database_is_reported_by_the_name_that_was_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text, place in (("\ndevice_db = 1 / 0\n", "d.py:2: ZeroDivisionError"), ("device_db = {\n", "d.py:1: '{' was")):
        (tmp_path / "d.py").write_text(text)
        with pytest.raises(Exception, match=f"^{place}"):
            DeviceDB.load("d.py")
