"""For any host objects and file name, the compiler terminates and reports what is wrong."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("any_host.py")


def compile_any(directory, seed, count, timeout):
    """Runs the script. If it was aborted (memory, time, a crash), the last program is the cause."""
    command = ["timeout", str(timeout), sys.executable, str(SCRIPT), str(seed), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"TMPDIR": str(directory)})
    last = "".join(path.read_text(encoding="utf-8") for path in directory.rglob("last.txt"))
    ended = f"any_host.py {seed} {count} ends with {done.returncode}"
    assert done.returncode == 0, f"{ended}\n{done.stdout}{done.stderr}{last}"


def test_any_host_object_compiles_or_is_reported(tmp_path):
    compile_any(tmp_path, 0, 300, 120)


@pytest.mark.long
def test_many_host_objects_compile_or_are_reported(tmp_path):
    """Different objects in each run; a failure prints them."""
    for _ in range(20):
        compile_any(tmp_path, random.randrange(1 << 32), 2000, 600)
