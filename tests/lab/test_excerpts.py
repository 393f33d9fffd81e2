"""The lines of source that errors name, from wherever they are known."""

import asyncio
import subprocess

import pytest

from kairos.lab.excerpts import excerpts
from kairos.lab.repository import FolderSource, GitSource, Repository

SOURCE = "".join(f"line {number}\n" for number in range(1, 21))
PYTHON = """the experiment raised an exception

Traceback (most recent call last):
  File "/lab/repository/flop.py", line 2, in run
    line 2
  File "/lab/repository/lib/trap.py", line 19, in <module>
    line 19
  File "/lab/repository/flop.py", line 2, in run
ValueError: of File "x", line 3 of a list
"""
KERNEL = """the kernel ended with an exception

Core Device Traceback:
Traceback (most recent call first):
  File "/lab/repository/flop.py", line 10, column 9, in artiq_run.Flop.run (RA=+0x2a4)
    line 10
RTIOUnderflow(0): channel 4

End of Core Device Traceback
"""


def test_places_of_tracebacks_are_shown_once_with_lines_around():
    found = excerpts(PYTHON, lambda file: (file.removeprefix("/lab/repository/"), SOURCE, "run"))
    assert [(each.file, each.line, each.function) for each in found] == [("flop.py", 2, "run"), ("lib/trap.py", 19, "")]
    assert [(each.first, each.lines[0], each.lines[-1]) for each in found] == [
        (1, "line 1", "line 5"),
        (16, "line 16", "line 20"),
    ]
    (kernel,) = excerpts(KERNEL, lambda file: ("flop.py", SOURCE, "abc"))
    assert (kernel.line, kernel.function, kernel.origin) == (10, "artiq_run.Flop.run", "abc")


def test_lines_are_counted_as_python_does():
    text = SOURCE.replace("line 3\n", "\fline 3\v\x1c\u2028\r\n").replace("line 4\n", "line 4\r")
    (first, _) = excerpts(PYTHON.replace("line 2,", "line 5,"), lambda file: (file, text, "now"))
    assert first.lines[3] == "line 5"


@pytest.mark.parametrize("text", [None, "", "line 1\n"])
def test_place_of_unknown_source_has_no_lines(text):
    (found,) = excerpts(KERNEL, lambda file: (file, text, "now"))
    assert (found.lines, found.origin, found.line) == ((), "", 10)


def source_of(source, tmp_path, file, revision="", known=None):
    repository = Repository(source, None, tmp_path / "examinations", tmp_path / "experiments.pyon", tmp_path)
    return asyncio.run(repository.source_of(str(file), revision, known or {}))


def test_source_of_a_run_is_that_of_its_commit(tmp_path):
    root = tmp_path / "repository"
    (root / "lib").mkdir(parents=True)

    def git(*words):
        own = ["-c", "user.name=a", "-c", "user.email=a@b"]
        return subprocess.run(["git", "-C", root, *own, *words], check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    (root / "lib" / "trap.py").write_text("old\n")
    git("add", ".")
    git("commit", "-qm", "a")
    commit = git("rev-parse", "HEAD").strip()
    (root / "lib" / "trap.py").write_text("new\n")
    git("commit", "-qam", "b")
    source = GitSource(root, tmp_path / "exports")
    file = tmp_path / "exports" / commit / "lib" / "trap.py"
    assert source_of(source, tmp_path, file, commit) == ("lib/trap.py", "old\n", commit)
    assert source_of(source, tmp_path, file, commit, {"lib/trap.py": "stored\n"}) == ("lib/trap.py", "stored\n", "run")
    assert source_of(source, tmp_path, file.with_name("none.py"), commit) == ("lib/none.py", None, "")


def test_source_outside_of_versions_is_as_it_is_now_or_stored(tmp_path):
    root = tmp_path / "repository"
    root.mkdir()
    (root / "flop.py").write_text("now\n")
    source = FolderSource(root)
    assert source_of(source, tmp_path, root / "flop.py") == ("flop.py", "now\n", "now")
    assert source_of(source, tmp_path, root / "flop.py", known={"flop.py": "then\n"}) == ("flop.py", "then\n", "run")
    assert source_of(source, tmp_path, "/etc/hostname") == ("/etc/hostname", None, "")
    elsewhere = {"usr/lib/mine.py": "mine\n"}
    assert source_of(source, tmp_path, "/usr/lib/mine.py", known=elsewhere) == ("/usr/lib/mine.py", "mine\n", "run")
    own = tmp_path / ".kairos" / "runs" / "7" / "experiment.py"
    assert source_of(source, tmp_path, own, known={"experiment.py": "text\n"}) == ("experiment.py", "text\n", "run")
