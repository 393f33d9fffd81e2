"""The folders and modules of this package import in one direction, as specified by the table of
docs/gateware.md. Tests may import anything."""

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parent
FILES = [path for path in PACKAGE.rglob("*.py") if not path.name.startswith(("test_", "conftest"))]


def floor_plan() -> dict[str, set[str]]:
    """The allowed imports of each room, in the order of the rows."""
    page = PACKAGE.parents[2] / "docs" / "gateware.md"
    table = page.read_text().split("| Package of `src/gateware` |")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return {row[0].strip("`"): set(re.findall(r"`(\w+)`", row[-1])) for row in rows}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def rooms_in(path: Path) -> set[str]:
    """The rooms from which a file imports, anywhere in it."""
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
    """The rooms from which each room imports."""
    rooms: dict[str, set[str]] = {}
    for path in FILES:
        rooms.setdefault(room_of(path), set()).update(rooms_in(path) - {room_of(path)})
    del rooms["__init__"]
    return rooms


def test_rooms_import_what_the_floor_plan_allows():
    plan, found = floor_plan(), imported()
    assert found.keys() == plan.keys(), "docs/gateware.md has a row for each package"
    wrong = {room: sorted(others - plan[room]) for room, others in found.items() if others - plan[room]}
    assert not wrong, f"imports that docs/gateware.md does not allow: {wrong}"


def test_the_floor_plan_allows_no_more_than_is_needed():
    found = imported()
    spare = {room: sorted(others - found[room]) for room, others in floor_plan().items() if others - found[room]}
    assert not spare, f"docs/gateware.md allows imports that there are not: {spare}"


def test_rooms_import_from_rows_below():
    rows = list(reversed(floor_plan()))
    for room, others in floor_plan().items():
        assert all(rows.index(other) < rows.index(room) for other in others), room


def test_an_import_within_a_function_is_seen():
    assert {"boards", "sim"} <= rooms_in(PACKAGE / "build.py")
