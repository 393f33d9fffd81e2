"""The logbook and the layouts of a laboratory: nothing is lost, nothing is written twice."""

import base64
import json

import pytest

from kairos.errors import UsageError
from kairos.lab.database import Database
from kairos.lab.layouts import Layouts
from tests.support.command import one_line, run_kairos
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


def test_search_of_any_length_is_answered_or_refused_in_a_line(lab):
    lab.ends(lab.run_of("Quick"))
    lab.write_entry("an entry")
    for search in (lab.runs, lab.logbook):
        for words in (["x" * 60_000], ["x"] * 2000, ["%"] * 501):
            with pytest.raises(UsageError, match=r"^a search has at most 1000 characters, this one has \d+$"):
                search(words)
        assert search(["x" * 999]) == search(["x"] * 500) == search([f"run={9**30}"]) == []
    assert len(lab.runs(["quick"])) == len(lab.logbook(["entry"])) == 1


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


def test_logbook_is_written_listed_and_exported_by_command(lab, tmp_path):
    def kairos_in(*words, **options):
        return run_kairos(*words, cwd=lab.folder, **options)

    (lab.folder / "plot.png").write_bytes(PICTURE)
    assert kairos_in("logbook").stdout == "the logbook is empty\n"
    assert kairos_in("logbook", "add", "aligned\nthe \x1b[31m729").stdout == "entry 1\n"
    assert json.loads(kairos_in("logbook", "add", "", "--run", "12", "--picture", "plot.png", "--json").stdout) == {
        "entry": 2
    }
    assert kairos_in("logbook", "add", "-", input="of a pipe").stdout == "entry 3\n"
    listed = kairos_in("logbook").stdout.splitlines()
    assert [line.split()[0] for line in listed if not line.startswith(" ")] == ["3", "2", "1"]
    assert listed[-2:] == ["    aligned", "    the \\x1b[31m729"] and ", run 12 [picture]" in listed[2]
    (found,) = kairos_in("logbook", "list", "run=12", "--json").stdout.splitlines()
    assert json.loads(found)["number"] == 2
    assert kairos_in("logbook", "list", "nobody").stdout == "no entry matches\n"
    assert "1 pictures into" in kairos_in("logbook", "export", "-o", tmp_path / "all.md").stdout
    text = (tmp_path / "all.md").read_text()
    assert text.index("aligned") < text.index("![entry 2](logbook/2.png)") < text.index("of a pipe")
    assert (tmp_path / "logbook" / "2.png").read_bytes() == PICTURE
    one_line(kairos_in("logbook", "add", ""), "an entry of the logbook needs a text or a picture")
    one_line(kairos_in("logbook", "add", "x", "--picture", "lab.toml"), "a picture is a PNG file")
    one_line(kairos_in("logbook", "export", "-o", "nowhere/all.md"), "nowhere/all.md cannot be written")


def test_layouts_go_to_text_files_and_back_by_command(lab, tmp_path):
    def kairos_in(*words):
        return run_kairos(*words, cwd=lab.folder)

    dock = {"kind": "tabs", "panels": ["Data"], "active": "Data"}
    assert kairos_in("layouts").stdout == "there is no layout\n"
    lab.save_layout("night / <ü>", json.dumps(dock), 0)
    assert "night / <ü>" in kairos_in("layouts").stdout
    assert kairos_in("layouts", "export", "-o", tmp_path).returncode == 0
    (path,) = tmp_path.glob("*.json")
    assert path.name == "night %2F <ü>.json" and json.loads(path.read_text()) == dock
    path.write_text(path.read_text().replace("Data", "Log"))
    assert kairos_in("layouts", "import", path).stdout == "layout night / <ü> is version 2\n"
    assert "Log" in lab.layout("night / <ü>")["content"] and "Data" in lab.layout("night / <ü>", 1)["content"]
    path.write_text("no layout")
    one_line(kairos_in("layouts", "import", path), "a layout is an object in JSON")
    one_line(kairos_in("layouts", "export", "none"), "layout 'none'")
    one_line(kairos_in("layouts", "import", tmp_path / "none.json"), "cannot be read")


def test_layouts_of_the_repository_become_versions_when_they_change(lab):
    folder = lab.folder / "repository" / "layouts"
    folder.mkdir()

    def scanned():
        lab.scan()
        return {each["name"]: (each["version"], each["person"]) for each in lab.layouts()}

    (folder / "night.json").write_text('{"kind": "tabs", "panels": ["Log"]}')
    (folder / "broken.json").write_text('["no object"]')
    (folder / "latin.json").write_bytes(b'{"\xff": 1}')
    assert scanned() == {"night": (1, "the repository")}
    assert scanned() == {"night": (1, "the repository")}
    lab.save_layout("night", '{"kind": "tabs", "panels": ["Data"]}', 1)
    assert scanned()["night"][0] == 2, "what somebody has saved since stays"
    (folder / "night.json").write_text('{"kind": "tabs",\n "panels": ["Queue"]}')
    assert scanned() == {"night": (3, "the repository")}
    lab.save_layout("night", "", 3)
    assert scanned() == {}, "one that was withdrawn stays so until its file changes"
    (folder / "night.json").write_text("{}")
    assert scanned() == {"night": (5, "the repository")}
    assert any("layout 'broken' of the repository is not taken" in record[3] for record in lab.log())
