"""Every vector of the cards is compared with this tree by a test: beside this one, or in Rust beside what it tests."""

import ast
import re
from pathlib import Path

from tests.support.vectors import GROUPS

FOLDER = Path(__file__).parent
RUST = FOLDER.parents[1] / "src" / "bench"
"""Models, whose tests take all vectors of a group (`vectors.rs`)."""


def taken() -> dict[str, set[int]]:
    """Return the vectors that tests take, by group: read from the decorators, so that any selection of tests knows."""
    found: dict[str, set[int]] = {}
    for path in FOLDER.glob("test_*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "vectors":
                name = ast.literal_eval(call.args[0])
                only = next((ast.literal_eval(each.value) for each in call.keywords if each.arg == "only"), None)
                found.setdefault(name, set()).update(range(len(GROUPS[name])) if only is None else only)
    for path in RUST.rglob("*.rs"):
        for name in re.findall(r'\bvectors\("(\w+)"\)', path.read_text()):
            found.setdefault(name, set()).update(range(len(GROUPS[name])))
    return found


def test_every_group_of_vectors_is_tested():
    tested = taken()
    assert [name for name, group in GROUPS.items() if len(tested.get(name, ())) < len(group)] == []
