"""`kairos check`: errors in kernels, as text and for editors."""

import json
import textwrap

import pytest

from tests.support.paths import EXAMPLES

HEAD = """
    from artiq.experiment import *


    class Exp(EnvExperiment):
        def build(self):
            self.setattr_device("core")
            self.setattr_device("ttl4")
"""

WRONG = (
    HEAD
    + """
        @kernel
        def run(self):
            µ = 1; x = self.ttl4.color
            y = 1 + "a"
            self.helper(2)

        @kernel
        def helper(self, n):
            self.ttl4.pulze(2 * us)
            n.real = 3

        @kernel
        def annotated(self, a: TInt32, b: TFloat, c=2):
            undefined(a)

        @kernel
        def unknown(self, n):
            also_undefined(n)
"""
)

RIGHT = HEAD + "\n        @kernel\n        def run(self):\n            self.ttl4.pulse(2 * us)\n"


@pytest.fixture
def files(tmp_path):
    def write(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        return [tmp_path / f"{name}.py" for name in texts]

    return write


def diagnostics(kairos, *arguments):
    done = kairos("check", *arguments, "--format", "json")
    return done.returncode, json.loads(done.stdout)["diagnostics"]


def test_valid_file_has_no_diagnostics(kairos, files):
    done = kairos("check", *files(right=RIGHT))
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "0 errors, 0 warnings in 1 file\n"


def test_errors_of_several_files_are_listed(kairos, files):
    done = kairos("check", *files(wrong=WRONG, right=RIGHT, other=WRONG.replace("color", "colour")))
    assert done.returncode == 1
    assert done.stderr == "10 errors, 0 warnings in 3 files\n"
    assert done.stdout.count("error: ") == 10
    assert "'color'" in done.stdout and "'colour'" in done.stdout


def test_json_diagnostics_have_editor_positions(kairos, files):
    (file,) = files(wrong=WRONG)
    code, found = diagnostics(kairos, file)
    assert code == 1
    lines = file.read_text().splitlines()
    places = []
    for one in found:
        start, end = one["range"]["start"], one["range"]["end"]
        assert one["file"] == str(file) and one["severity"] == 1 and one["source"] == "kairos"
        assert start["line"] == end["line"]
        places.append(lines[start["line"]][start["character"] : end["character"]])
        assert one["message"] in one["text"] or one["message"].partition(":")[0] in one["text"]
    assert sorted(places) == sorted(["color", '"a"', "pulze", "n.real", "undefined"])
    # For `unknown`, only a caller could determine the type of n.


def test_strict_check_turns_warnings_into_errors(kairos, files):
    narrowed = HEAD + "\n        @kernel\n        def run(self):\n            self.take(now_mu() + 1)\n"
    narrowed += "\n        @kernel\n        def take(self, n: TInt32):\n            pass\n"
    arguments = files(narrowed=narrowed)
    code, found = diagnostics(kairos, *arguments)
    assert (code, [one["severity"] for one in found]) == (0, [2])
    assert diagnostics(kairos, "--strict", *arguments)[0] == 1


@pytest.mark.parametrize(
    ("text", "line", "character", "message"),
    [
        ("def f(:\n    pass\n", 0, 6, "SyntaxError"),
        ("x = 1\nraise ValueError('no')\n", 1, 0, "ValueError: no"),
        ("\nimport artiq.coredevice.toaster\n", 1, 0, "no counterpart of artiq.coredevice.toaster"),
    ],
)
def test_file_that_cannot_be_imported_has_one_diagnostic(kairos, files, text, line, character, message):
    code, found = diagnostics(kairos, *files(broken=text))
    (one,) = found
    assert code == 1 and message in one["message"]
    assert one["range"]["start"] == {"line": line, "character": character}


def test_missing_file_is_rejected_by_check(kairos, tmp_path):
    done = kairos("check", tmp_path / "missing.py")
    assert done.returncode == 1 and "there is no file" in done.stderr


PREPARED = (
    HEAD
    + """
        def prepare(self):
            self.pulses = 3
            print("prepared")
            PREPARE

        @kernel
        def run(self):
            for _ in range(self.pulses):
                self.ttl4.pulse(self.length)

        @kernel
        def helper(self):
            pass
"""
)


@pytest.mark.parametrize(
    "prepare, code, text",
    [
        ("self.length = 1e-6", 0, "0 errors, 0 warnings in 1 file"),
        ("self.helper(); self.length = 1e-6", 0, "0 errors, 1 warning in 1 file"),
        ("raise ValueError('no file')", 0, "0 errors, 1 warning in 1 file"),
        ("pass", 1, "1 error, 0 warnings in 1 file"),
    ],
)
def test_attributes_set_by_prepare_are_known(kairos, tmp_path, prepare, code, text):
    (tmp_path / "exp.py").write_text(textwrap.dedent(PREPARED.replace("PREPARE", prepare)))
    done = kairos("check", "exp.py")
    assert (done.returncode, text in done.stderr) == (code, True), done.stdout + done.stderr
    assert "prepared" not in done.stdout


DATABASES = sorted(path.relative_to(EXAMPLES) for path in EXAMPLES.rglob("*device_db.py"))


def experiments(database):
    """Return the examples for a device database: those that are named like it, or else all beside it without one."""
    stem = database.name.removesuffix("device_db.py").removesuffix("_")
    beside = [path for path in database.parent.glob("*.py") if "EnvExperiment)" in path.read_text()]
    named = {path.name.removesuffix("_device_db.py") for path in database.parent.glob("*_device_db.py")}
    return [path for path in beside if (path.stem == stem if stem else path.stem not in named)]


@pytest.mark.parametrize("name", DATABASES, ids=str)
def test_every_example_passes_the_check(kairos, name):
    files = experiments(EXAMPLES / name)
    done = kairos("check", *files, device_db=EXAMPLES / name)
    assert files and done.returncode == 0, done.stdout + done.stderr


def test_generated_experiment_passes_the_check(kairos):
    assert kairos("new", "blink").returncode == 0
    done = kairos("check", "blink.py", device_db="device_db.py")
    assert done.returncode == 0, done.stdout + done.stderr


def test_generated_bench_example_passes_the_check(kairos):
    assert kairos("new", "--bench", "ion", "trap").returncode == 0
    files = [path for path in kairos.directory.glob("*.py") if path.name != "device_db.py"]
    done = kairos("check", *files, device_db="device_db.py")
    assert files and done.returncode == 0, done.stdout + done.stderr
