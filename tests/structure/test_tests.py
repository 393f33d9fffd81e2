"""What several tests use is in tests/support: no test imports a test, and support imports none."""

import ast
from pathlib import Path

TESTS = Path(__file__).parents[1]


def imported(path: Path) -> set[str]:
    """Last parts of the modules that a file imports, and the names that it takes from packages."""
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
