"""`scripts/lint-words` reports names of tests that are too short or contain private words."""

import tomllib
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
FACTS = tomllib.loads((SCRIPTS / "words.toml").read_text())


@pytest.fixture
def lint(tmp_path, monkeypatch):
    """Returns a function that checks a file with a given name and text, and returns the lines that are printed."""
    loader = SourceFileLoader("lint_words", str(SCRIPTS / "lint-words"))
    module = module_from_spec(spec_from_loader("lint_words", loader))
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)

    def check(name, text):
        (tmp_path / name).write_text(text)
        return module.check(tmp_path / name, FACTS)

    return check


@pytest.mark.parametrize(
    "name", ["test_defaults", "test_an_answer_arrives", "test_51_branch_is_taken", "test_3_phases"]
)
def test_python_test_name_of_three_words_is_reported(lint, name):
    (line,) = lint("test_x.py", f"class TestX:\n    def {name}(self):\n        pass\n")
    assert line.startswith(f"test_x.py:2: `{name}`: ") and line.endswith(": 4 words at least")


@pytest.mark.parametrize(
    "text",
    [
        "#[test]\nfn values() {}\n",
        "#[tokio::test(start_paused = true)]\nasync fn never_panics() {}\n",
        "proptest! {\n    #[test]\n    // From the specification\n    fn check_3_and_4_round_trip(a: u8) {}\n}\n",
        "#[test]\n#[should_panic]\npub fn is_refused() {}\n",
    ],
)
def test_rust_test_name_of_two_words_is_reported(lint, text):
    (line,) = lint("x.rs", text)
    assert line.endswith(": 3 words at least")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("test_x.py", "def test_unknown_token_is_rejected():\n    pass\n"),
        ("test_x.py", "def test_53_to_55_phase_follows_the_counter():\n    pass\n"),
        ("x.py", "def test_mode():\n    pass\n"),
        ("x.rs", "#[test]\nfn decode_never_panics() {}\n\nfn helper() {}\n"),
    ],
)
def test_name_of_enough_words_is_not_reported(lint, file, text):
    assert lint(file, text) == []


def test_private_word_is_reported_in_test_names_only(lint):
    text = "def test_key_says_which_client_is_allowed():\n    pass\n\n\ndef says():\n    pass\n"
    assert [line.split(": ")[2] for line in lint("test_x.py", text)] == ["instead of `says`", "instead of `which`"]


@pytest.mark.parametrize(
    ("name", "found"), [("outside", 1), ("_Outside", 1), ("outside_of_range", 0), ("last_words", 1)]
)
def test_word_alone_is_reported_and_within_a_longer_name_not(lint, name, found):
    assert len(lint("x.py", f"{name} = 1\n")) == found
