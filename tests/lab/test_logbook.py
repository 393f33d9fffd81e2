"""The logbook and the layouts of a laboratory: nothing is lost, nothing is written twice."""

import base64

import pytest

from kairos.errors import UsageError
from kairos.lab.database import Database
from kairos.lab.layouts import Layouts
from tests.support.waiting import until

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

NOTES = """
from pathlib import Path
import time
from artiq.experiment import *


class Notes(EnvExperiment):
    def run(self):
        self.add_to_logbook("trap **loaded** <b>")
        home = Path(__file__).parents[1]
        (home / "noted").touch()
        while not (home / "end-notes").exists():
            time.sleep(0.01)
        self.add_to_logbook(float("nan"))
"""


def test_entries_are_found_edited_and_exported(lab):
    first = lab.write_entry("ion *lost* at 50 %", None)
    second = lab.write_entry("", 7, PICTURE)
    assert [entry["number"] for entry in lab.logbook()] == [second, first]
    assert [entry["number"] for entry in lab.logbook(["run=7"])] == [second]
    assert [entry["number"] for entry in lab.logbook(["50 %", "LOST"])] == [first]
    assert lab.logbook(["5_"]) == []
    lab.edit_entry(first, 1, "ion lost at 60 %")
    with pytest.raises(UsageError, match="was changed by .* meanwhile"):
        lab.edit_entry(first, 1, "mine")
    text, pictures = lab.export_logbook()
    assert pictures == [second] and text.index("ion lost at 60 %") < text.index(
        f"![entry {second}](logbook/{second}.png)"
    )
    assert lab.entry_picture(second) == PICTURE
    lab.edit_entry(first, 2, "")
    assert [entry["number"] for entry in lab.logbook()] == [second], "it is withdrawn"
    for text, picture in (("", b""), ("x", b"<svg>"), ("x" * 100_001, b""), ("x", PICTURE + bytes(2 << 20))):
        with pytest.raises(UsageError):
            lab.write_entry(text, None, picture)


def test_entries_of_a_run_are_written_once_despite_kills(lab):
    (lab.folder / "repository" / "notes.py").write_text(NOTES)
    rid = lab.submit({"file": "notes.py", "class_name": "Notes", "repo_rev": None})
    until(lambda: (lab.folder / "noted").exists())
    until(lab.logbook)
    lab.kill()
    (lab.folder / "end-notes").touch()
    lab.start()
    assert lab.ends(rid)["status"] == "completed"
    found = [(entry["text"], entry["rid"], entry["person"]) for entry in lab.logbook()]
    assert found == [("nan", rid, None), ("trap **loaded** <b>", rid, None)]


def test_layout_saved_by_another_person_is_not_overwritten(tmp_path):
    layouts = Layouts(Database(f"sqlite:///{tmp_path / 'lab.db'}"))
    assert layouts.save("main", '{"a": 1}', 0, "anna") == 1
    assert layouts.save("main", '{"a": 2}', 1, "bert") == 2
    with pytest.raises(UsageError, match="was saved by bert meanwhile"):
        layouts.save("main", '{"a": 3}', 1, "anna")
    assert layouts.get("main")["content"] == '{"a": 2}' and layouts.get("main", 1)["person"] == "anna"
    layouts.save("main", "", 2, "anna")
    assert layouts.listed() == []
    with pytest.raises(LookupError):
        layouts.get("main")
    assert layouts.save("main", "{}", 0, None) == 4, "its name is free again"
    for name, content in (("", "{}"), ("x" * 61, "{}"), ("x", "[]"), ("x", "{"), ("x", "[" * 100_000)):
        with pytest.raises(UsageError):
            layouts.save(name, content, 0, None)
