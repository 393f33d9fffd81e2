"""docs/dependencies.md gives a reason for every library that our manifests require."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def rust() -> set[str]:
    """Returns the names of the crates that our manifests require."""
    names = set()
    for path in [ROOT / "Cargo.toml", ROOT / "fuzz" / "Cargo.toml", *(ROOT / "src").rglob("Cargo.toml")]:
        manifest = tomllib.loads(path.read_text())
        for part in [manifest, manifest.get("workspace", {}), *manifest.get("target", {}).values()]:
            for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
                names |= {name for name in part.get(kind, {}) if not name.startswith("kairos-")}
    return names


def python() -> set[str]:
    """Returns the names of the distributions that our projects require."""
    names = set()
    for path in [ROOT / "pyproject.toml", *(ROOT / "src").glob("*/pyproject.toml")]:
        project = tomllib.loads(path.read_text())["project"]
        optional = project.get("optional-dependencies", {})
        for requirement in [*project.get("dependencies", []), *(one for some in optional.values() for one in some)]:
            names.add(re.match(r"[\w-]+", requirement)[0].lower())
    return {name for name in names if not name.startswith("kairos-")}


def test_every_dependency_has_its_reason():
    page = (ROOT / "docs" / "dependencies.md").read_text().lower()
    words = set(re.findall(r"[\w-]+", page))
    assert sorted((rust() | python()) - words) == []


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
DEVELOPMENT = {"develop"}
"""Extras that nobody needs who installs wheels."""
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))


def names(requirements) -> set[str]:
    return {re.match(r"[\w-]+", each)[0].lower() for each in requirements}


def imported(path) -> set[str]:
    """Returns the top-level modules that a file imports and that are not next to it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module.partition(".")[0])
    return {name for name in found if not (path.parent / f"{name}.py").exists()}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(ROOT / "examples")))
def test_example_names_the_extra_that_it_needs(path):
    ours = {"artiq", "kairos", "ndscan", *names(PROJECT["dependencies"]), *sys.stdlib_module_names}
    text = path.read_text()
    for name in sorted(imported(path) - ours):
        extras = [extra for extra, some in EXTRAS.items() if names(some) & {name, f"{name}io"}]
        assert extras, f"{name}: no extra has it"
        assert any(f"kairos[{extra}]" in text or f"from kairos.{extra} " in text for extra in extras), (name, extras)


def test_extras_are_listed_where_installing_is_described():
    page = (ROOT / "docs" / "installing.md").read_text().partition("| Extra |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(EXTRAS) - DEVELOPMENT
    assert names(EXTRAS["analysis"]) == {"scipy", "lmfit"}


def test_only_extras_that_exist_are_named():
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py"), *EXAMPLES, ROOT / "README.md"]
    texts = [path.read_text() for path in pages if "node_modules" not in path.parts]
    named = {extra for text in texts for some in re.findall(r"kairos\[([\w,]+)\]", text) for extra in some.split(",")}
    named |= {extra for text in texts for extra in re.findall(r"the extra `(\w+)`", text)}
    assert named <= set(EXTRAS), named
