"""For any kernel, the compiler terminates, and either accepts it or reports an error with a location."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("mutate.py")


def mutate(directory, seed, count, seconds):
    """Runs the script, for at most so many seconds of processor time. If it was aborted (memory, time), the last
    program in `directory` is the cause."""
    command = ["prlimit", f"--cpu={seconds}", sys.executable, str(SCRIPT), str(seed), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"TMPDIR": str(directory)})
    programs = sorted(directory.rglob("mutated_*.py"), key=lambda path: path.stat().st_mtime_ns)
    last = programs[-1].read_text(encoding="utf-8") if programs else ""
    ended = f"mutate.py {seed} {count} ends with {done.returncode}"
    assert done.returncode == 0, f"{ended}\n{done.stdout}{done.stderr}{last}"


def test_mutated_program_compiles_or_is_rejected(tmp_path):
    mutate(tmp_path, 1, 80, 120)


@pytest.mark.long
def test_many_mutated_programs_compile_or_are_rejected(tmp_path):
    """Different programs in each run; a failure prints them."""
    for _ in range(20):
        mutate(tmp_path, random.randrange(1 << 32), 500, 600)


def test_memory_of_the_compiler_process_is_limited():
    """A compiler with unbounded memory use fails these tests instead of stalling the machine."""
    greedy = "import mutate; mutate.main(1, 0); bytearray(mutate.MEMORY)"
    done = subprocess.run([sys.executable, "-c", greedy], capture_output=True, text=True, cwd=SCRIPT.parent)
    assert done.returncode != 0 and "MemoryError" in done.stderr
