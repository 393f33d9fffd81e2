"""For every error that a driver can raise, a test raises it and expects its text."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from kairos.contracts.pulse import ERROR_TEXTS

ROOT = Path(__file__).parents[2]
DRIVERS = ROOT / "src/kairos/coredevice"
SHORTEST = 10
"""Minimum length of a text in a test to identify an error."""


def messages() -> Iterator[tuple[str, str]]:
    """Yields place and text of each driver error, with a tab for every variable part."""
    for path in sorted(DRIVERS.rglob("*.py")):
        if "tests" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                text = message(node.exc.args[0])
                if re.search(r"\w{3}", text):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", text


def message(node: ast.expr) -> str:
    """Returns the statically known parts of a text."""
    if isinstance(node, ast.Constant):
        return re.sub(r"\{\d(:#?\w+)?\}", "\t", str(node.value))
    if isinstance(node, ast.JoinedStr):
        return "".join(message(part) for part in node.values)
    return "\t"


def expected() -> set[str]:
    """Returns the texts in tests, without regular expression syntax."""
    # Each of these is raised by tests/e2e/test_pulse_errors.py
    found = set(ERROR_TEXTS.values())
    for folder in (ROOT / "tests", ROOT / "src/kairos"):
        for path in folder.rglob("*.py"):
            if folder.name == "tests" or "tests" in path.parts:
                for node in ast.walk(ast.parse(path.read_text())):
                    if isinstance(node, ast.Constant) and isinstance(node.value, str):
                        for piece in re.split(r"\.\*|\.\+|\\d\+|\n", node.value.replace("\\", "")):
                            found.add(piece.strip(" ^$"))
    return {text for text in found if len(text) >= SHORTEST}


def test_every_driver_error_is_tested():
    texts = expected()
    whole = "\n".join(texts)
    missing = []
    for place, text in messages():
        parts = [part for part in text.split("\t") if len(part) >= SHORTEST] or [max(text.split("\t"), key=len)]
        if not any(part in whole or any(said in part for said in texts) for part in parts):
            missing.append(f"{place}: {text}")
    assert not missing, "no test expects:\n" + "\n".join(missing)
