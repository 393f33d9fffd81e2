"""What the compiler says, as a whole: `diagnostics/*.txt`, renewed by `python -m tests.language.diagnostics`."""

import difflib
import json
import re
import sys
from pathlib import Path

import pytest

from kairos import compiler as compiler_package
from kairos.compiler import annotations

from . import diagnostics

ROOT = Path(__file__).parents[2]
RUST = ROOT / "src" / "compiler" / "src"
PYTHON = Path(compiler_package.__file__).parent
# What Python refuses before it is a kernel, unless a file changes while it is read.
PYTHONS = {
    ("check.rs", 'Diagnostic::new(stmt.span, format!("{word} statement outside of a loop"))'),
    ("resolve.rs", "return Err(Diagnostic::new(*span, text));"),
    ("comprehensions.rs", """return Err(Diagnostic::unsupported(span, "'async'"));"""),
    ("mod.rs", 'Diagnostic::new(span(file, error.location), format!("syntax error: {}", error.error))'),
    ("mod.rs", "Diagnostic::global(format!("),
    ("stmt.rs", '_ => return Err(Diagnostic::new(target.span, "cannot assign to this expression")),'),
    ("rules.rs", 'Lazy::Generator => Err(Diagnostic::new(span, "a generator expression is not kept")'),
}
# What would need a host that answers otherwise than ours, or that an earlier check says first.
OTHERS = {
    ("mod.rs", "Err(Diagnostic::unsupported(span, what))"),
    ("rpc.rs", "Diagnostic::new(span, text)"),
    ("call.rs", ".map_err(|text| Diagnostic::new(whole.span, text)),"),
    ("call.rs", ".map_err(|text| Diagnostic::new(whole.span, text))?;"),
    ("classes.rs", "return Err(Diagnostic::unsupported(args[0].span, &text));"),
    ("mod.rs", ".map_err(|text| place(Diagnostic::global(text)))?;"),
    ("mod.rs", "return Err(place(Diagnostic::global(format!("),
    ("mod.rs", ".map_err(|text| Diagnostic::new(span, text))?;"),
    ("mod.rs", "error = Some(Diagnostic::new(local.span, text));"),
    ("mod.rs", "error = Some(Diagnostic::new(function.ast.name_span, text));"),
    ("stmt.rs", "Err(Diagnostic::new(context.span, super::no_manager(&name)))"),
    ("text.rs", "info.map_err(|text| Diagnostic::new(whole.span, text))?;"),
    ("width.rs", "result = Err(Diagnostic::new(expr.span, text));"),
}
# Rendered where it is made: it is in `calls.txt` ("host needed").
TEXTS = {("lib.rs", "let error = Diagnostic::new(*span, text)")}
NEVER = PYTHONS | OTHERS | TEXTS
"""Diagnostics that no program here has, by file and text of the line."""


@pytest.fixture(scope="module")
def said():
    """What is said of all programs, by family and title; lines of the compiler that said something."""
    texts, rust, python = {}, set(), set()

    original = annotations.QuotingError.__init__

    def noting(self, *args):
        frame = sys._getframe(1)
        python.add((Path(frame.f_code.co_filename).name, frame.f_lineno))
        original(self, *args)

    annotations.QuotingError.__init__ = noting
    try:
        for family in diagnostics.families():
            for title, program in diagnostics.programs(family).items():
                texts[family, title], origins = diagnostics.said(program)
                rust |= origins
    finally:
        annotations.QuotingError.__init__ = original
    return texts, rust, python


@pytest.mark.parametrize("family", diagnostics.families())
def test_what_is_said(said, family):
    parts = [f"# {title}\n\n{text}" for (found, title), text in said[0].items() if found == family]
    new = "\n".join(parts).rstrip("\n") + "\n"
    old = diagnostics.HERE.joinpath(f"{family}.txt").read_text(encoding="utf-8")
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), f"{family}.txt", "now", lineterm="", n=2)
    assert old == new, "\n".join(lines) + f"\n\nIf that was meant: {diagnostics.RENEW}"


def test_something_is_said_of_every_program(said):
    assert [key for key, text in said[0].items() if not text.strip()] == []


def test_places_are_those_of_the_text(said):
    """The protocol counts lines and characters from 0, the text from 1."""
    for text in said[0].values():
        arrow = re.search(r"--> exp\.py:(\d+):(\d+)", text)
        protocol = [json.loads(line[5:]) for line in text.splitlines() if line.startswith("lsp: ")]
        if arrow and protocol[0]["file"] == diagnostics.FILE and len(protocol) == 1:
            start = protocol[0]["range"]["start"]
            assert [start["line"] + 1, start["character"] + 1] == [int(number) for number in arrow.groups()], text


def sites(folder, pattern, suffix):
    """Lines that make a diagnostic: file, line, text."""
    for path in sorted(folder.rglob(f"*{suffix}")):
        if "tests" in path.parts:
            continue
        text = path.read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
        for found in re.finditer(pattern, text):
            number = text.count("\n", 0, found.start()) + 1
            yield path, number, text.splitlines()[number - 1].strip()


def test_every_diagnostic_has_a_program(said):
    _, rust, python = said
    made = {(file, line) for file, line in filter(None, rust)}
    missing = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path, line, text in sites(RUST, r"Diagnostic::(new|global|unsupported)\(", ".rs")
        if (str(path.relative_to(ROOT)), line) not in made and (path.name, text) not in NEVER
    ]
    missing += [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path, line, text in sites(PYTHON, r"raise QuotingError\(", ".py")
        if (path.name, line) not in python and (path.name, text) not in NEVER
    ]
    assert missing == [], "\n".join(["no program of tests/language/diagnostics has:", *missing])
