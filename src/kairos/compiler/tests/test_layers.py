"""The compiler's modules import in one direction: each from the rows above it in the table of
docs/compiler.md."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[4]
SOURCE = ROOT / "src" / "compiler" / "src"
MODULE = re.compile(r"`([a-z]+)(?:\.rs|/)`")


def rows() -> dict[str, int]:
    """Return the row of each module of the crate."""
    table = (ROOT / "docs" / "compiler.md").read_text().split("| Module | What it is |")[1].split("\n\n")[0]
    cells = [line.split("|")[1] for line in table.splitlines()[2:]]
    return {name: row for row, cell in enumerate(cells) for name in MODULE.findall(cell)}


def imports(path: Path) -> set[str]:
    """Return the modules of the crate that a file names, except in comments and in its tests."""
    text = re.sub(r"//.*", "", path.read_text().split("#[cfg(test)]")[0])
    return set(re.findall(r"\bcrate::([a-z]+)", text))


def test_modules_import_only_from_rows_above():
    row = rows()
    modules = {path.stem: [path] for path in SOURCE.glob("*.rs") if path.stem != "lib"}
    modules |= {path.name: list(path.glob("*.rs")) for path in SOURCE.iterdir() if path.is_dir()}
    assert modules.keys() == row.keys()
    used = {(name, other) for name, paths in modules.items() for path in paths for other in imports(path) - {name}}
    assert {other for _, other in used} <= row.keys(), "an import of the crate that names no module"
    assert not {(name, other) for name, other in used if row[other] >= row[name]}
