"""Deliberate one-line faults, applied to a copy of the logic one by one: the vectors and random
programs detect each.

The faults are data: `mutations.toml`. One whose text is no longer found fails the fast suite too.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
SOURCE = FOLDER.parents[2]
FAULTS = tomllib.loads((FOLDER / "mutations.toml").read_text())["fault"]
OF_THE_DDS = {"phase.py", "sine.py", "synthesis.py"}
VECTORS = Path("pulse/tests/vectors.json")


def mutated(folder, fault):
    """A copy of the package and its vectors in `folder`, with the fault if there is one. Returns
    the path of the copy."""
    # For a library used for a few seconds, optimisation would take longer than it saves.
    changes = [("verilated/verilate.py", "OPT_FAST=-O2 OPT_GLOBAL=-O2", "OPT_FAST=-O0 OPT_GLOBAL=-O0")]
    if fault:
        changes.append((f"pulse/{fault['file']}", fault["old"], fault["new"]))
    package = folder / "gateware" / FOLDER.parent.name
    shutil.copytree(FOLDER.parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / VECTORS.parent).mkdir(parents=True)
    shutil.copy(SOURCE / VECTORS, folder / VECTORS)
    for name, old, new in changes:
        text = (package / name).read_text()
        assert old in text, f"{name} has changed"
        (package / name).write_text(text.replace(old, new))
    return package


def run(folder, package, tests):
    """The tests' result, with the copy in place of the package."""
    files = [package / "pulse" / f"test_{name}.py" for name in tests]
    environment = dict(os.environ, PYTHONPATH=str(package.parent), KAIROS_BUILD=str(folder / "build"))
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not long", "--tb=line", "-p", "no:cacheprovider"]
    return subprocess.run([*command, *files], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["what"])
def test_faults_replace_lines_that_exist(fault):
    assert (FOLDER / fault["file"]).read_text().count(fault["old"]) == 1, f"mutations.toml: {fault['file']} has changed"
    assert fault["old"] != fault["new"] and "\n" not in fault["old"] + fault["new"]


def test_list_has_at_least_20_faults():
    assert len(FAULTS) >= 20


@pytest.mark.long
def test_unchanged_copy_passes_all_tests(tmp_path):
    done = run(tmp_path, mutated(tmp_path, None), ["sequence", "model", "synthesis"])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["what"])
def test_inserted_fault_fails_a_test(fault, tmp_path):
    tests = ["synthesis", "samples"] if fault["file"] in OF_THE_DDS else ["sequence", "engines", "model"]
    done = run(tmp_path, mutated(tmp_path, fault), tests)
    summary = done.stdout.strip().splitlines()[-1]
    # A fault that cannot be built proves nothing.
    assert done.returncode == 1 and " failed" in summary and " error" not in summary, done.stdout + done.stderr
