"""All tests and files named in docs/conformance.md exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent


def test_tests_and_files_in_the_table_exist():
    text = (ROOT / "docs" / "conformance.md").read_text()
    quoted = re.findall(r"`([^`]+)`", text)
    files = {name.split("::")[0] for name in quoted if re.match(r"[\w/.]*\.(py|rs)\b", name)}
    assert len(files) > 15
    assert [name for name in files if not (FOLDER / name).exists() and not (ROOT / name).exists()] == []
    tests = {test for name in quoted for test in re.findall(r"\btest_\w+\b(?!\.py)", name)}
    sources = "".join(path.read_text() for path in FOLDER.parent.rglob("test_*.py"))
    defined = set(re.findall(r"^def (test_\w+)", sources, re.MULTILINE))
    assert tests and tests <= defined, tests - defined
