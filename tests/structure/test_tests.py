"""Shared code of tests is in tests/support: neither a test nor support imports a test."""

import ast
from pathlib import Path

TESTS = Path(__file__).parents[1]


def imported(path: Path) -> set[str]:
    """Returns the last components of imported modules, and the names imported from packages."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[-1] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names} if not node.module else {node.module.split(".")[-1]}
    return found


def test_no_test_imports_a_test():
    tests = {path.stem for path in TESTS.rglob("test_*.py")} | {"conftest"}
    wrong = {
        f"{path.relative_to(TESTS)} imports {', '.join(sorted(others))}"
        for path in TESTS.rglob("*.py")
        if (others := imported(path) & tests)
    }
    assert not wrong
