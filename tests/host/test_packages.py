"""The packages of `src/kairos` import in one direction only, as in the table of docs/architecture.md."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "kairos"
FILES = sorted(path for path in SOURCE.rglob("*.py") if "tests" not in path.relative_to(SOURCE).parts)


def allowed_imports() -> dict[str, set[str]]:
    """Returns what each package may import, in the order of the rows."""
    table = (ROOT / "docs" / "architecture.md").read_text().split("| Package of `src/kairos` |")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return {row[0].strip("`"): set(re.findall(r"`(\w+)`", row[-1])) for row in rows}


def package_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).parts
    return parts[0].removesuffix(".py")


def modules(path: Path) -> set[str]:
    """Returns the full names of all imports in a file, at any level."""
    package = ["kairos", *path.relative_to(SOURCE).parts[:-1]]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            found |= {f"{base}.{alias.name}" for alias in node.names} if base == "kairos" else {base}
    return found


def imported() -> dict[str, set[str]]:
    """Returns the packages from which each package imports."""
    packages: dict[str, set[str]] = {}
    for path in FILES:
        names = [name.split(".") for name in modules(path)]
        others = {name[1] for name in names if name[0] == "kairos" and len(name) > 1}
        packages.setdefault(package_of(path), set()).update(others - {package_of(path), "__version__"})
    del packages["__init__"]
    return packages


def test_package_imports_are_listed_in_table():
    plan, found = allowed_imports(), imported()
    assert found.keys() == plan.keys(), "docs/architecture.md has a row for each package"
    wrong = {package: sorted(others - plan[package]) for package, others in found.items() if others - plan[package]}
    assert not wrong, f"imports that docs/architecture.md does not allow: {wrong}"


def test_packages_import_only_from_rows_below():
    rows = ["_native", *reversed(allowed_imports())]
    for package, others in allowed_imports().items():
        assert all(rows.index(other) < rows.index(package) for other in others), package


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_import_inside_function_has_reason(path):
    lines = path.read_text().splitlines()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import | ast.ImportFrom) and node.col_offset:
            near = lines[node.lineno - 2], lines[node.lineno - 1]
            assert any("# " in line for line in near), f"{path}:{node.lineno}: import at the head, or say why not"


def test_run_without_controllers_imports_no_slow_modules():
    """They took a fifth of the time in which `kairos run` starts."""
    slow = {"asyncio", "ssl", "email", "importlib.metadata", "tomllib", "h5py", "matplotlib", "kairos.applets.live"}
    code = "import kairos.cli.experiments, kairos.compiler, sys; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not slow & set(found)
