"""The folders and modules of this package import in one direction, as specified by the table of
docs/gateware.md. Tests may import anything."""

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parent
FILES = [path for path in PACKAGE.rglob("*.py") if not path.name.startswith(("test_", "conftest"))]


def allowed_imports() -> dict[str, set[str]]:
    """The allowed imports of each package, in the order of the rows."""
    page = PACKAGE.parents[2] / "docs" / "gateware.md"
    table = page.read_text().split("| Package of `src/gateware` |")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return {row[0].strip("`"): set(re.findall(r"`(\w+)`", row[-1])) for row in rows}


def package_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    """The packages from which a file imports, anywhere in it."""
    package = [PACKAGE.name, *path.relative_to(PACKAGE).parts[:-1]]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        parts = [name.split(".") for name in names]
        found |= {part[1] for part in parts if part[0] == PACKAGE.name and len(part) > 1 and part[1] != "__version__"}
    return found


def imported() -> dict[str, set[str]]:
    """The packages from which each package imports."""
    packages: dict[str, set[str]] = {}
    for path in FILES:
        packages.setdefault(package_of(path), set()).update(imports_of(path) - {package_of(path)})
    del packages["__init__"]
    return packages


def test_packages_import_only_allowed_packages():
    allowed, found = allowed_imports(), imported()
    assert found.keys() == allowed.keys(), "docs/gateware.md has a row for each package"
    wrong = {
        package: sorted(others - allowed[package]) for package, others in found.items() if others - allowed[package]
    }
    assert not wrong, f"imports that docs/gateware.md does not allow: {wrong}"


def test_table_allows_no_unused_import():
    found = imported()
    spare = {
        package: sorted(others - found[package])
        for package, others in allowed_imports().items()
        if others - found[package]
    }
    assert not spare, f"docs/gateware.md allows imports that there are not: {spare}"


def test_packages_import_only_from_lower_rows():
    rows = list(reversed(allowed_imports()))
    for package, others in allowed_imports().items():
        assert all(rows.index(other) < rows.index(package) for other in others), package


def test_import_within_a_function_is_detected():
    assert {"boards", "verilated"} <= imports_of(PACKAGE / "build.py")
