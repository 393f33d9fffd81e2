"""Every module of src/proto is fuzzed, each target has a stored corpus, and `make test-long` runs them all."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
TARGETS = ROOT / "fuzz" / "fuzz_targets"
PROGRAMS = re.findall(r'\[\[bin\]\]\nname = "(\w+)"', (ROOT / "fuzz" / "Cargo.toml").read_text())


def test_every_format_has_a_fuzz_target():
    modules = re.findall(r"pub mod (\w+);", (ROOT / "src" / "proto" / "src" / "lib.rs").read_text())
    modules.remove("bytes")  # no format: what the formats are read with
    used = "".join(
        line for path in TARGETS.glob("*.rs") for line in path.open() if line.startswith("use kairos_proto::")
    )
    assert modules and [name for name in modules if not re.search(rf"\b{name}\b", used)] == []


def test_every_fuzz_target_has_a_corpus(tmp_path):
    assert {path.stem for path in TARGETS.glob("*.rs")} == {*PROGRAMS, "memory"}
    for target in PROGRAMS:
        folder = tmp_path / target
        subprocess.run(["python3", ROOT / "fuzz" / "corpus.py", "expand", target, folder], check=True)
        assert len(list(folder.iterdir())) >= 10, target


def test_long_tests_run_each_fuzz_target_for_a_minute():
    assert re.search(r"scripts/fuzz 60$", (ROOT / "scripts" / "test").read_text(), re.MULTILINE)
