"""Every vector of the cards is compared with this tree by a test beside this one, or is listed here as not yet."""

import ast
from pathlib import Path

from tests.support.vectors import GROUPS

HERE = Path(__file__).parent
NOT_YET = {
    "phaser_servo_iir": "the model of the card has no servos",
    "drtio_eem": "there are no links over an EEM connector",
}
"""Why no test takes the vectors of a group, or not all of them. A line is removed with the test that takes its last
vector; none is added."""
MOST = 2


def taken() -> dict[str, set[int]]:
    """Return the vectors that tests take, by group: read from the decorators, so that any selection of tests knows."""
    found: dict[str, set[int]] = {}
    for path in HERE.glob("test_*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "vectors":
                name = ast.literal_eval(call.args[0])
                only = next((ast.literal_eval(each.value) for each in call.keywords if each.arg == "only"), None)
                found.setdefault(name, set()).update(range(len(GROUPS[name])) if only is None else only)
    return found


def test_every_group_of_vectors_is_tested_or_listed():
    tested = taken()
    missing = {name for name, group in GROUPS.items() if len(tested.get(name, ())) < len(group)}
    assert missing == set(NOT_YET)


def test_list_of_untested_groups_only_shrinks():
    """Lower `MOST` with each line that goes."""
    assert len(NOT_YET) == MOST
