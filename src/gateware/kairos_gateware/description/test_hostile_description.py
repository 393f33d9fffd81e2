"""System descriptions with a value exchanged, added or missing: each is refused in one line that names the file, or
gives a variant whose device database is a Python file."""

import ast
import copy
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kairos_gateware.description import DescriptionError, load, make_variant
from kairos_gateware.device_db import render

EXAMPLES = sorted(path for path in Path(__file__).parent.glob("*.json") if path.stem != "schema")
HOSTILE = [
    *(None, True, 0, -1, 1, 5, 13, 2**31, 2**64, 1e9, 125e6, float("nan"), float("inf")),
    *("", "x", "0", "\n", "'\"\\", "\0"),
    *([], [0], [0, 0], [[0]], ["x"], list(range(100)), {}, {"type": "dio"}, {"": None}, [{}]),
    *("input", "output", "clkgen", "master", "satellite", "standalone", "kasli_soc", "zc706", "v1.0", "v9.9", "\ud800"),
]


def places(value, path=()):
    """Yield the path of each value in a tree."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


@st.composite
def changed(draw):
    """A description of the project with one to three changes."""
    description = json.loads(draw(st.sampled_from(EXAMPLES)).read_text())
    description["satellites"] = []
    for _ in range(draw(st.integers(1, 3))):
        description = change(draw, description)
    return description


def change(draw, description):
    path = draw(st.sampled_from(list(places(description))))
    hostile = copy.deepcopy(draw(st.sampled_from(HOSTILE)))
    if not path:
        return hostile if draw(st.integers(0, 9)) == 0 else description
    parent = description
    for key in path[:-1]:
        parent = parent[key]
    match draw(st.sampled_from(["exchanged", "missing", "added"])):
        case "exchanged":
            parent[path[-1]] = hostile
        case "missing":
            del parent[path[-1]]
        case "added" if isinstance(parent, dict):
            parent[draw(st.sampled_from(["x", "ports", "pins", "type", "hw_rev", "satellites"]))] = hostile
        case "added":
            parent.append(hostile)
    return description


def outcome(path: Path):
    """Return the variant of a file, or None if it is refused in one line with its name."""
    try:
        return make_variant(load(path))
    except DescriptionError as error:
        text = str(error)
        assert text.startswith(str(path)) and text.isprintable(), text
        return None


@given(changed())
def test_changed_description_is_refused_in_one_line_or_gives_a_database(tmp_path_factory, description):
    path = tmp_path_factory.getbasetemp() / "description.json"
    path.write_text(json.dumps(description))
    variant = outcome(path)
    if variant is not None:
        ast.parse(render(variant, variant.host))


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "null", "5", '"x"', "[]", "{}", "", "\0", '{"target": "kasli_soc", "target": "zc706"}'],
    ids=lambda text: text[:10] or "empty",
)
def test_text_that_is_no_description_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "description.json"
    path.write_text(text)
    assert outcome(path) is None


LARGE = {
    "digits": '{"sed_lanes": ' + "9" * 5000 + "}",
    "numbers": '{"peripherals": [' + "1," * 200_000 + "1]}",
    "cards": json.dumps({"peripherals": [{"type": "dio"}] * 10_000}),
    "boards": json.dumps({"satellites": ["a.json"] * 10_000}),
    "text": json.dumps({"target": "x" * 500_000}),
    "key": json.dumps({"x" * 500_000: 1}),
    "file": " " * (2 << 20),
}


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_large_description_is_refused_in_a_short_line(tmp_path, text):
    path = tmp_path / "description.json"
    path.write_text(text)
    with pytest.raises(DescriptionError) as caught:
        load(path)
    assert len(str(caught.value)) < 500 + len(str(path)) and "\n" not in str(caught.value)


def test_description_without_end_is_refused():
    with pytest.raises(DescriptionError, match="/dev/zero: it has more than 1048576 bytes"):
        load("/dev/zero")
