"""Imports follow the documentation.

Crates import only from the rooms named in their row of the table in docs/architecture.md. Modules of
the kernel core import only from rows below their own in the table of docs/kernel-core.md.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "kernel" / "src"
FILE = re.compile(r"`([a-z_]+)(?:\.rs|/)`")


def floor_plan() -> dict[str, set[str]]:
    """Returns the rooms that each folder in docs/architecture.md may import."""
    table = (ROOT / "docs" / "architecture.md").read_text().split("| Folder | Language |")[1].split("\n\n")[0]
    plan = {}
    for line in table.splitlines()[2:]:
        folder, *_, allowed = (cell.strip() for cell in line.strip("|").split("|"))
        plan[folder.strip("`")] = set(re.findall(r"`([a-z_]+)`", allowed))
    return plan


def dependencies(manifest: dict) -> set[str]:
    """Returns the folders, relative to the manifest's, of our crates that it requires for any target and purpose."""
    tables = [manifest, *manifest.get("target", {}).values()]
    kinds = ("dependencies", "build-dependencies", "dev-dependencies")
    entries = [entry for table in tables for kind in kinds for entry in table.get(kind, {}).values()]
    return {entry["path"] for entry in entries if "path" in entry}


def test_crates_import_what_the_floor_plan_allows():
    plan = floor_plan()
    members = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["members"]
    assert len(members) > 10
    wrong = {}
    for member in members:
        folder = ROOT / member
        paths = dependencies(tomllib.loads((folder / "Cargo.toml").read_text()))
        ours = [(folder / path).resolve() for path in paths]
        rooms = {str(path.relative_to(ROOT / "src")) for path in ours if path.is_relative_to(ROOT / "src")}
        assert member in plan, f"docs/architecture.md has no row for {member}"
        if rooms - plan[member]:
            wrong[member] = sorted(rooms - plan[member])
    assert not wrong, f"imports that docs/architecture.md does not allow: {wrong}"


def test_the_rooms_that_the_floor_plan_names_exist():
    rooms = {folder.removeprefix("src/") for folder in floor_plan()}
    for folder, allowed in floor_plan().items():
        assert (ROOT / folder.split("`")[0]).is_dir(), folder
        assert allowed <= rooms | {"_native", "compiler"}, folder


def rows() -> dict[str, int]:
    """Returns the row of each module of the crate."""
    table = (ROOT / "docs" / "kernel-core.md").read_text().split("| File | What it is |")[1].split("\n\n")[0]
    cells = [line.split("|")[1] for line in table.splitlines()[2:]]
    return {name: row for row, cell in enumerate(cells) for name in FILE.findall(cell)}


def imports(path: Path) -> set[str]:
    """Returns the modules of the crate that a file uses outside of its tests."""
    text = re.sub(r"//.*", "", path.read_text().split("#[cfg(test)]")[0])
    found = set(re.findall(r"\b(?:crate|kairos_kernel)::([a-z_]+)", text))
    for group in re.findall(r"\bcrate::\{([^}]*)\}", text):
        found |= set(re.findall(r"([a-z_]+)(?:::[^,]*)?", group))
    return found


def test_modules_import_from_rows_below():
    row = rows()
    modules = {path.stem: [path] for path in SOURCE.glob("*.rs")}
    modules |= {path.name: list(path.glob("*.rs")) for path in SOURCE.iterdir() if path.is_dir()}
    modules = {
        name: paths for name, paths in modules.items() if name not in ("main", "lib", "tests", "relocation_tests")
    }
    assert modules.keys() == row.keys()
    wrong = {
        (name, other)
        for name, paths in modules.items()
        for path in paths
        for other in imports(path) & row.keys() - {name}
        if row[other] < row[name]
    }
    assert not wrong


def test_the_files_of_rtio_import_in_no_circle():
    files = {path.stem: path for path in (SOURCE / "rtio").glob("*.rs")}
    uses = {
        name: set(re.findall(r"\bsuper::([a-z]+)", re.sub(r"//.*", "", path.read_text()))) & files.keys()
        for name, path in files.items()
    }
    while uses:
        lowest = {name for name, others in uses.items() if not others & uses.keys()}
        assert lowest, f"circle among {sorted(uses)}"
        uses = {name: others for name, others in uses.items() if name not in lowest}
