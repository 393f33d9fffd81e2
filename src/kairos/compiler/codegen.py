"""In-process LLVM: compiles a program to object files for the core device's Cortex-A9."""

import functools
import os
import threading
from typing import Any

from . import llvm

__all__ = ["CortexA9Target", "TRIPLE", "begin_to_load", "data_layout", "generate", "load"]

TRIPLE = "armv7-unknown-linux-gnueabihf"
_FEATURES = "+dsp,+fp16,+neon,+vfp3"


class CortexA9Target:
    """The target processor of kernels."""

    triple = TRIPLE
    features = _FEATURES.replace("+", "").split(",")
    little_endian = True
    now_pinning = False
    """Whether the time cursor is a register of the gateware; it is not."""


@functools.cache
def _target_machine(level: int) -> llvm.Machine:
    return llvm.Machine(TRIPLE, _FEATURES, level)


@functools.cache
def data_layout() -> str:
    """Return the data layout of the device."""
    return _target_machine(2).data_layout()


def load() -> None:
    """Load LLVM and all that the first program needs, so that copies of this process have it."""
    for level in (0, 2):
        _target_machine(level)
    data_layout()


def passes(join: bool = True, combine: bool = True) -> list[str]:
    """Return the passes before code generation. join: joins blocks that follow one another. combine: combines
    instructions, which takes time that grows with the square of the number of conditions on one value."""
    # No dead store elimination: LLVM assumes that a function's stack is dead after it returns, but
    # here results may remain on it for the caller (`emit/returned.rs` of the compiler).
    # Inlining is first, so that the other passes see the arguments of the calls.
    found = ["AlwaysInliner", "SROA", "InstCombine" if combine else "SCCP"]
    return [*found, *(["SimplifyCFG"] if join else []), "GlobalDCE"]


def generate(
    program: Any, *, emit_assembly: bool = False, verify: bool = False, variables: bool = False
) -> list[bytes]:
    """Compile the program to object files (or the encoded assembly text).

    Frequently executed code is one file, rarely executed code, which is compiled in a fraction of
    the time, another. variables: describe them in the debug information.
    """
    files = []
    for assembly, thorough, divided, compares_often in program.parts(TRIPLE, data_layout(), variables):
        machine = _target_machine(2 if thorough else 0)
        chosen = passes(join=not divided, combine=not compares_often)
        try:
            files.append(llvm.generate(assembly, machine, chosen, as_text=emit_assembly, verify=verify))
        except RuntimeError as error:
            raise RuntimeError(f"this is a bug in the Kairos compiler, please report it: {error}") from None
    return files


def _load_in_advance() -> None:
    try:
        load()
    except Exception:
        pass  # `generate` reports it


def begin_to_load() -> None:
    """Begin to load LLVM, which is large, on another core if there is one.

    `generate` waits for the rest, and so does the end of the process: a library that is being initialised must not be
    destroyed.
    """
    if len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)) == 1:
        return  # it would be in the way of a kernel that is found among the kept ones
    try:
        threading.Thread(target=_load_in_advance).start()
    except RuntimeError:
        pass  # the system has no more threads
