"""Whatever a kernel looks like, the compiler either accepts it or says what is wrong and where, and it ends."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("mutate.py")


def mutate(seed, count, timeout):
    command = [sys.executable, str(SCRIPT), str(seed), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mutated_programs():
    mutate(1, 150, 120)


@pytest.mark.long
def test_many_mutated_programs():
    """Other programs each time; a failure prints them."""
    for _ in range(20):
        mutate(random.randrange(1 << 32), 500, 600)
