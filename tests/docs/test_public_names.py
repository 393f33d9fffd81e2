"""Examples, and the programs shown in the manual, import only what docs/experiments.md lists as public."""

import ast
import re
from importlib import import_module, util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(ROOT.glob("examples/**/*.py"))
BY_MODULE = {"kairos.coredevice", "kairos.coredevice.parts"}
"""Packages whose modules are public, too."""
PAGES = sorted(ROOT.glob("docs/**/*.md"))


def public_packages() -> set[str]:
    section = (ROOT / "docs" / "experiments.md").read_text().split("**What is public.**")[1].split("\n\n")[1]
    return set(re.findall(r"`(kairos[\w.]*)`", section))


def imports(text: str) -> list[tuple[str, str | None]]:
    """Returns modules of kairos that a program imports, with the name that it takes from there."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found += [(node.module, alias.name) for alias in node.names]
    return [(module, name) for module, name in found if module.split(".")[0] == "kairos"]


def is_public(module: str, name: str | None) -> bool:
    listed = public_packages()
    is_listed = module in listed or module.rpartition(".")[0] in BY_MODULE & listed
    if name in (None, "*") or not is_listed:
        return is_listed
    return f"{module}.{name}" in listed or name in import_module(module).__all__


def shown_programs(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


def test_public_packages_exist_and_list_their_names():
    listed = public_packages() - {"kairos.sweep"}
    assert len(listed) > 10
    for name in listed:
        assert util.find_spec(name), name


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(ROOT)))
def test_example_imports_only_public_names(path):
    assert [used for used in imports(path.read_text()) if not is_public(*used)] == []


@pytest.mark.parametrize("page", [page for page in PAGES if shown_programs(page)], ids=lambda page: page.stem)
def test_program_in_manual_imports_only_public_names(page):
    for program in shown_programs(page):
        try:
            used = imports(program)
        except SyntaxError:  # a part of a program
            continue
        assert [each for each in used if not is_public(*each)] == []
