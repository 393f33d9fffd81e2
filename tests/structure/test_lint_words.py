"""`scripts/lint-words` reports private words in names, and names of tests that are too short or state no result."""

import tomllib
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
FACTS = tomllib.loads((SCRIPTS / "words.toml").read_text())


@pytest.fixture
def lint_module(monkeypatch):
    """The script as a module."""
    loader = SourceFileLoader("lint_words", str(SCRIPTS / "lint-words"))
    module = module_from_spec(spec_from_loader("lint_words", loader))
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    loader.exec_module(module)
    return module


@pytest.fixture
def lint(tmp_path, monkeypatch, lint_module):
    """Returns a function that checks a file with a given name and text, and returns the lines that are printed."""
    monkeypatch.setattr(lint_module, "ROOT", tmp_path)

    def check(name, text):
        (tmp_path / name).write_text(text)
        return lint_module.check(tmp_path / name, FACTS)

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


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("x.py", "class Made:\n    pass\n", 1),
        ("x.py", "def _made(x):\n    return x\n", 1),
        ("x.py", "def parts(made):\n    there = made\n    return there\n", 0),
        ("x.py", "GIVEN = 5\ngiven_list = []\n", 1),
        ("x.py", '"""Of those that def made returns."""\n\nmade = 1\n', 0),
        ("x.rs", "pub async fn look() {\n    let here = 1;\n}\n", 1),
        ("x.rs", "const HERE: u32 = 1;\n", 1),
        ("x.ts", "const given = 1;\nfunction settle() {}\n", 1),
    ],
)
def test_word_that_names_a_function_type_or_constant_is_reported_and_a_variable_is_not(lint, file, text, found):
    assert len(lint(file, text)) == found


def test_constant_named_by_a_word_for_types_is_reported_and_a_parameter_is_not(lint):
    assert len(lint("x.py", "PATIENCE = 1\n\n\ndef patience():\n    pass\n")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "message Lobby {\n  string name = 1;\n}\n",
        "message A {\n  string unheard = 1;\n}\n",
        "enum A {\n  A_FORGOTTEN = 1;\n}\n",
        "service A {\n  rpc Look(B) returns (C);\n}\n",
    ],
)
def test_private_word_in_a_protocol_file_is_reported_once(lint, text):
    (line,) = lint("x.proto", f"// Nobody is told.\n{text}")
    assert line.startswith("x.proto:")


def test_protocol_files_are_among_the_sources(lint_module):
    assert any(path.suffix == ".proto" for path in lint_module.sources([str(SCRIPTS.parent / "src" / "hub" / "proto")]))


@pytest.mark.parametrize("name", ["test_both_cores_in_a_loop_work", "test_second_call_of_it_works"])
def test_last_word_of_a_test_name_that_states_no_result_is_reported(lint, name):
    (line,) = lint("test_x.py", f"def {name}():\n    pass\n")
    assert line.endswith(": say what happens")
