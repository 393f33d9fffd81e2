"""Imports follow the documentation.

Crates import only the crates named in their row of the table in docs/architecture.md. Modules of
the kernel core import only from rows below their own in the table of docs/kernel-core.md.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "kernel" / "src"
FILE = re.compile(r"`([a-z_]+)(?:\.rs|/)`")


def allowed_imports() -> dict[str, set[str]]:
    """Returns for each folder in docs/architecture.md the crates and packages that it may import."""
    table = (ROOT / "docs" / "architecture.md").read_text().split("| Folder | Language |")[1].split("\n\n")[0]
    allowed = {}
    for line in table.splitlines()[2:]:
        folder, *_, names = (cell.strip() for cell in line.strip("|").split("|"))
        allowed[folder.strip("`")] = set(re.findall(r"`([a-z_]+)`", names))
    return allowed


def dependencies(manifest: dict) -> set[str]:
    """Returns the names of our crates that a manifest requires for any target and purpose, without `kairos-`."""
    tables = [manifest, *manifest.get("target", {}).values()]
    kinds = ("dependencies", "build-dependencies", "dev-dependencies")
    names = {name for table in tables for kind in kinds for name in table.get(kind, {})}
    return {name.removeprefix("kairos-") for name in names if name.startswith("kairos-")}


def test_crates_import_only_allowed_crates():
    allowed = allowed_imports()
    members = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["members"]
    assert len(members) > 10
    wrong = {}
    for member in members:
        assert member in allowed, f"docs/architecture.md has no row for {member}"
        forbidden = dependencies(tomllib.loads((ROOT / member / "Cargo.toml").read_text())) - allowed[member]
        if forbidden:
            wrong[member] = sorted(forbidden)
    assert not wrong, f"imports that docs/architecture.md does not allow: {wrong}"


def test_folders_and_names_in_the_table_exist():
    names = {folder.rsplit("/", 1)[-1] for folder in allowed_imports()}
    for folder, allowed in allowed_imports().items():
        assert (ROOT / folder).is_dir(), folder
        assert allowed <= names | {"_native"}, folder


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


def test_kernel_modules_import_only_rows_below():
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


def test_rtio_modules_have_no_import_cycle():
    files = {path.stem: path for path in (SOURCE / "rtio").glob("*.rs")}
    uses = {
        name: set(re.findall(r"\bsuper::([a-z]+)", re.sub(r"//.*", "", path.read_text()))) & files.keys()
        for name, path in files.items()
    }
    while uses:
        lowest = {name for name, others in uses.items() if not others & uses.keys()}
        assert lowest, f"cycle among {sorted(uses)}"
        uses = {name: others for name, others in uses.items() if name not in lowest}
