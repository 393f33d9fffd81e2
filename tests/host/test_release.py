"""Archives for building boards without a checkout: `make release`."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tarfile
from importlib.machinery import SourceFileLoader

import pytest

from kairos.boot import boot_image
from tests.support.paths import ROOT

SCRIPT = ROOT / "scripts" / "build-release"
DOCUMENT = ROOT / "docs" / "bring-up.md"
CARD = {"type": "dio", "ports": [0], "bank_direction_low": "input", "bank_direction_high": "output"}
SYSTEM = {"target": "kasli_soc", "variant": "mine", "hw_rev": "v1.1", "peripherals": [CARD]}
SATELLITE = SYSTEM | {"base": "satellite", "variant": "away"}
MASTER = SYSTEM | {"base": "master", "variant": "here", "satellites": ["away.json"]}


def release(output, *arguments, **environment):
    command = [sys.executable, SCRIPT, "--output", output, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)


@pytest.fixture(scope="module")
def script():
    loader = SourceFileLoader("build_release", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the descriptions of a master and its satellite."""
    folder = tmp_path_factory.mktemp("systems")
    for name, content in [("here", MASTER), ("away", SATELLITE), ("mine", SYSTEM)]:
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def unpacked(place, name):
    """The folder of an archive of a description, with its sums checked, and the archive's entries."""
    path = place / "out" / f"kairos-0.1.0-kasli_soc-{name}.tar.gz"
    if not path.exists():
        done = release(path.parent, "--description", place / f"{name}.json")
        assert done.returncode == 0, done.stderr
    with tarfile.open(path) as tar:
        entries = tar.getmembers()
        tar.extractall(place, filter="data")
    folder = place / path.name.removesuffix(".tar.gz")
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
    return folder, entries


def files_of(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def documented(board, image):
    """Files of the archive as the document has them, without those of folders."""
    table = DOCUMENT.read_text().split("| In the archive | |\n")[1].split("\n\n")[0]
    names = {name for row in table.splitlines()[1:] for name in re.findall(r"`([^`]+)`", row)}
    other = {"runtime.elf": "satman.elf", "satman.elf": "runtime.elf"}[image]
    names = {name.replace("kasli_soc", board) for name in names if not name.endswith("/")}
    return names - {f"firmware/{other}"}


def test_archive_of_a_system_has_the_documented_files(place):
    folder, _ = unpacked(place, "mine")
    assert files_of(folder) == documented("kasli_soc", "runtime.elf") | {"system/mine.json"}
    assert json.loads((folder / "system" / "mine.json").read_text()) == SYSTEM
    assert "ttl" in (folder / "device_db.py").read_text()
    for line in (folder / "gateware" / "kairos_kasli_soc.tcl").read_text().splitlines():
        assert (folder / "gateware" / line.split('"')[1]).is_file()
    for page in (folder / "docs").rglob("*.md"):
        links = re.findall(r"\]\(([^)#]+)", page.read_text())
        assert [link for link in links if "://" not in link and not (page.parent / link).is_file()] == []
    assert "(docs/bring-up.md)" in (folder / "README.md").read_text()
    named = set(re.findall(r"(?:gateware|firmware)/\w+\.(?:elf|bit)", (folder / "README.md").read_text()))
    assert {name for name in named if not name.endswith(".bit")} <= files_of(folder)


def test_boot_image_is_made_from_an_unpacked_archive(place):
    folder, _ = unpacked(place, "away")
    assert files_of(folder) == documented("kasli_soc", "satman.elf") | {"system/away.json"}
    image = boot_image(folder / "firmware" / "boot.elf", folder / "firmware" / "satman.elf", board="kasli_soc")
    assert len(image) > 100_000


def test_master_archive_has_descriptions_of_satellites(place, script):
    found = script.described(place / "here.json")
    assert sorted(path.name for path in found) == ["away.json", "here.json"]


def test_archive_has_the_same_bytes_when_built_again(place):
    folder, entries = unpacked(place, "mine")
    assert [entry.name for entry in entries] == sorted(entry.name for entry in entries)
    assert {(entry.mtime, entry.uid, entry.gid, entry.uname, entry.mode) for entry in entries} == {
        (315532800, 0, 0, "", 0o644)
    }
    again = place / "again"
    release(again, "--description", place / "mine.json", PYTHONHASHSEED="7")
    name = f"{folder.name}.tar.gz"
    assert (again / name).read_bytes() == (place / "out" / name).read_bytes()


def test_changed_file_of_an_archive_is_found_by_the_sums(place):
    folder, _ = unpacked(place, "mine")
    with (folder / "gateware" / "kairos_kasli_soc.v").open("a") as file:
        file.write("\n")
    done = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, capture_output=True, text=True)
    assert done.returncode != 0 and done.stdout.splitlines() == ["gateware/kairos_kasli_soc.v: FAILED"]


def test_every_description_and_board_has_an_archive(script):
    from kairos_gateware.build import BOARDS

    found = script.systems()
    assert {board for board, _ in found} == set(BOARDS) - {"sim"}
    described = {path.name for _, path in found if path is not None}
    assert described == {path.name for path in script.DESCRIPTIONS.glob("*.json")} - {"schema.json"}


@pytest.mark.parametrize(
    "arguments, reason",
    [
        (["--description", "mine.json", "--firmware", "nowhere"], "boot.elf is missing: `make firmware` builds it"),
        (["--description", "none.json"], "none.json: No such file or directory"),
        (["--description", "list.json"], "list.json: top level: [] is not of type 'object'"),
        (["--board", "versal"], "there is no system for the board 'versal'"),
        (["--description", "wrong.json"], "peripherals[0]"),
    ],
)
def test_release_that_fails_has_one_line(place, arguments, reason):
    (place / "wrong.json").write_text(json.dumps(SYSTEM | {"peripherals": [{"type": "toaster"}]}))
    (place / "list.json").write_text("[]")
    given = [str(place / argument) if argument.endswith(".json") else argument for argument in arguments]
    done = release(place / "refused", *given)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("release failed: ") and reason in done.stderr and done.stderr.count("\n") == 1
