"""Duration of commands."""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

__all__ = ["KAIROS", "ROOT", "wall"]

ROOT = Path(__file__).parents[2]
KAIROS = Path(sys.executable).with_name("kairos")


def wall(command, repeat=3, cwd=ROOT) -> float:
    """Return the median seconds of `command` from start to exit; kernels are compiled, not taken
    from the cache."""
    seconds = []
    environment = os.environ | {"KAIROS_CACHE": "off"}
    for _ in range(repeat + 1):  # the first run warms caches
        start = time.perf_counter()
        done = subprocess.run(
            command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        seconds.append(time.perf_counter() - start)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout}")
    return statistics.median(seconds[1:])
