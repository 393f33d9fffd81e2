"""The test vectors of the cards (tests/cards/vectors.json): facts of real cards, compared with what drivers, models
and gateware of this tree do.

A test takes the vectors of a group with the decorator `vectors`; `tests/cards/test_groups.py` finds the groups that no
test takes.
"""

import json
from pathlib import Path

import pytest

__all__ = ["FILE", "GROUPS", "vectors"]

FILE = Path(__file__).parents[1] / "cards" / "vectors.json"
GROUPS = {group["name"]: group["vectors"] for group in json.loads(FILE.read_text())["groups"]}


def vectors(name, only=None):
    """Parametrise a test with `vector`: those of a group, or the ones with these places in it."""
    places = range(len(GROUPS[name])) if only is None else only
    return pytest.mark.parametrize("vector", [pytest.param(GROUPS[name][n], id=f"{name}-{n}") for n in places])
