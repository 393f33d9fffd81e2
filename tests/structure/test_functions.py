"""No function of src/ is longer than a hundred lines: beyond that it is not understood at one look, and a constructor
of a module is divided into modules.

Counted from `def` or `fn` to the last line. Tables of test cases (Rust: `*_tests.rs` and `tests/`) do not count, and
generated files do not either.
"""

import ast
import re
from pathlib import Path

SRC = Path(__file__).parents[2] / "src"
LIMIT = 100
GENERATED = re.compile(r"\bgenerated\b", re.IGNORECASE)
RUST_FUNCTION = re.compile(r"( *)(?:pub(?:\([^)]*\))? )?(?:(?:const|async|unsafe|extern \"C\") )*fn (\w+)")


def python_functions(text: str) -> list[tuple[str, int, int]]:
    """Returns name, first line and number of lines of each function."""
    return [
        (node.name, node.lineno, node.end_lineno - node.lineno + 1)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def rust_functions(text: str) -> list[tuple[str, int, int]]:
    """Returns name, first line and number of lines of each function of formatted source: it ends with the next line
    that is a brace in the column of its beginning, unless its first line is all of it."""
    lines = text.splitlines()
    functions = []
    for number, line in enumerate(lines):
        match = RUST_FUNCTION.match(line)
        if match and not line.endswith((";", "}")):
            end = next((at for at in range(number, len(lines)) if lines[at] == match[1] + "}"), number)
            functions.append((match[2], number + 1, end - number + 1))
    return functions


def functions_of(path: Path) -> list[tuple[str, int, int]]:
    text = path.read_text()
    if GENERATED.search(text[:400]):
        return []
    return python_functions(text) if path.suffix == ".py" else rust_functions(text)


def sources() -> list[Path]:
    rust = (path for path in SRC.rglob("*.rs") if "tests" not in path.parts and not path.stem.endswith("tests"))
    return sorted([*SRC.rglob("*.py"), *rust])


def test_no_function_is_longer_than_the_limit():
    long = [
        f"{path.relative_to(SRC)}:{line}: {name} has {count} lines"
        for path in sources()
        for name, line, count in functions_of(path)
        if count > LIMIT
    ]
    assert not long, "\n".join(long)


def test_rust_function_ends_at_its_brace():
    text = "impl A {\n    pub fn one(&self) {\n        loop {\n        }\n    }\n\n    fn two() {}\n}\n"
    assert rust_functions(text) == [("one", 2, 4)]


def test_python_function_within_function_is_seen():
    assert python_functions("def outer():\n    def inner():\n        pass\n") == [("outer", 1, 3), ("inner", 2, 2)]
