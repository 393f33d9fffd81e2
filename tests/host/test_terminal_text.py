"""Texts from devices, plugins and files are shown without the control characters that they contain."""

import ast
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kairos
from kairos.cli.report import UserCodeError, user_code
from kairos.terminal_text import one_line, plain, record_lines
from kairos.waveform.vcd import Names

PRINTS = {
    "cli/printed.py": "escapes it",
    "cli/run.py": "of the experiment, as its prints",
    "compat/commands.py": "a fixed text",
    "compiler/embedding.py": "names in the user's program",
    "coredevice/core.py": "lines of the user's program",
    "selftest/observers.py": "what was typed just before",
}
"""Modules that print to standard error themselves, and what."""


@given(st.text())
def test_any_text_moves_no_cursor(text):
    assert all(unicodedata.category(c) != "Cc" or c in "\n\t" for c in plain(text))
    assert not any(unicodedata.category(c) == "Cc" for c in one_line(text))
    assert plain(plain(text)) == plain(text)
    for line in record_lines("10:00 INFO device", text).split("\n")[1:]:
        assert line.startswith("    ")


def test_letters_of_all_languages_remain():
    text = "µ größe 日本 עברית a\u0301 🙂"
    assert one_line(text) == text


FORGED = "bad\r\nkairos: forged\0"


@pytest.mark.parametrize("error", [ValueError(FORGED), KeyError(FORGED), RuntimeError("a\n\nkairos: forged")])
def test_message_of_an_exception_pretends_to_be_no_other_line(error):
    with pytest.raises(UserCodeError) as caught, user_code():
        raise error
    assert not [line for line in str(caught.value).splitlines() if line.startswith("kairos: ")]
    assert "forged" in str(caught.value)


@given(st.text() | st.sampled_from(["$end", "a b", "\x1b[31m\n$end", "\u202ex", "\ud800", "\ufeff"]))
def test_names_in_vcd_files_are_words_that_can_be_seen(name):
    word = Names().take("pins", name)
    assert plain(word) == word and word.split() == [word] and not word.startswith("$")
    word.encode()


def test_standard_error_has_one_way_for_texts_of_others():
    root = Path(kairos.__file__).parent
    found = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if "sys.stderr" in (text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("print", "sys.stderr.write")
        if "sys.stderr" in ast.unparse(node)
    }
    assert found == set(PRINTS)
