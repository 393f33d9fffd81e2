"""What is generated from src/contracts/ is not stale, and what cannot be generated from it agrees with it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATE = ROOT / "src" / "contracts" / "generate.py"


def test_generated_files_are_up_to_date():
    done = subprocess.run([sys.executable, GENERATE, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
