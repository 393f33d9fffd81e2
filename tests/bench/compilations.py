"""Durations of compilations: a fresh process for each, which imports LLVM and initialises its
targets before the clock starts."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from .programs import PROGRAMS

ROOT = Path(__file__).parents[2]
REPEAT = 5
ONCE = """
import json, sys, time
from tests.support.experiment import experiment
from kairos.compiler import codegen
codegen.data_layout()
e = experiment(sys.argv[1], sys.argv[2])
start = time.perf_counter()
compiled = e.core.compile(type(e).run, (e,), {}, lambda x: None)
print(json.dumps({"seconds": time.perf_counter() - start, **compiled.timings}))
"""
COLD = """
import time
start = time.perf_counter()
import kairos.compiler
imported = time.perf_counter()
import json, sys
from tests.support.experiment import experiment
e = experiment(sys.argv[1], sys.argv[2])
e.core.compile(type(e).run, (e,), {}, lambda x: None)
print(json.dumps({"import": imported - start, "seconds": time.perf_counter() - start}))
"""
"""As `ONCE`, with all imports."""


def once(file, name: str, program: str = ONCE, **environment: str) -> dict[str, float]:
    """Return the seconds of one compilation of `run` of the experiment `name`, and of its steps."""
    done = subprocess.run(
        [sys.executable, "-c", program, str(file), name],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )
    if done.returncode != 0:
        raise SystemExit(f"compiling {file} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def median(file, name: str, **environment: str) -> float:
    """Return the median seconds of `REPEAT` compilations."""
    return statistics.median(once(file, name, **environment)["seconds"] for _ in range(REPEAT))


def cold_seconds() -> tuple[float, float]:
    """Return the median seconds of importing the compiler, and from there to the library of
    examples/blink.py."""
    found = [once("examples/blink.py", "Blink", COLD, KAIROS_CACHE="off") for _ in range(REPEAT)]
    return tuple(statistics.median(one[step] for one in found) for step in ("import", "seconds"))


def compile_seconds(wanted=PROGRAMS) -> dict[str, float]:
    """Return the seconds for each program of `PROGRAMS`, by name, and for recompiling the slowest
    one."""
    with tempfile.TemporaryDirectory() as directory:
        found, again = {}, []
        for name in wanted:
            file = Path(directory) / f"{name}.py"
            file.write_text(PROGRAMS[name][0]())
            found[name] = median(file, "Program", KAIROS_CACHE="off")
            kept = {"KAIROS_CACHE": str(Path(directory) / "kept")}
            once(file, "Program", **kept)
            again.append(median(file, "Program", **kept))
        return found | {"cached": max(again)}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        for name in sys.argv[1:] or PROGRAMS:
            file = Path(directory) / f"{name}.py"
            file.write_text(PROGRAMS[name][0]())
            for cache in ("off", directory, directory):
                steps = once(file, "Program", KAIROS_CACHE=cache)
                print(name, {step: round(seconds, 4) for step, seconds in steps.items()}, flush=True)
