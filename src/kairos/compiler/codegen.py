"""In-process LLVM: compiles a program to object files for the core device's Cortex-A9."""

import functools
import os
import sys
import threading
from typing import Any

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


_loading: list[threading.Thread] = []


def begin_to_load() -> None:
    """Begin to map LLVM's library, which is large, on another core: for what will soon generate code."""
    if "llvmlite.binding" in sys.modules or _loading:
        return
    import ctypes  # imported late: code that is found in the cache needs none of these

    from llvmlite import __path__ as places  # likewise
    from llvmlite.utils import get_library_name  # likewise

    library = f"{places[0]}/binding/{get_library_name()}".encode()
    try:
        dlopen = ctypes.CDLL(None).dlopen  # in contrast to `ctypes.CDLL(library)` it lets other threads go on
    except (AttributeError, OSError, TypeError):
        return  # a system without it
    dlopen.argtypes, dlopen.restype = [ctypes.c_char_p, ctypes.c_int], ctypes.c_void_p
    _loading.append(threading.Thread(target=dlopen, args=(library, os.RTLD_NOW), daemon=True))
    _loading[0].start()


@functools.cache
def _llvm():
    for thread in _loading:
        thread.join()
    # Imported late, because it takes 0.1 s, which the earlier stages do not need.
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm


@functools.cache
def _target_machine(level: int):
    llvm = _llvm()
    target = llvm.Target.from_triple(TRIPLE)
    return target.create_target_machine(cpu="", features=_FEATURES, opt=level, reloc="pic", codemodel="default")


@functools.cache
def data_layout() -> str:
    """Return the data layout of the device."""
    return str(_target_machine(2).target_data)


def load() -> None:
    """Load LLVM and all that the first program needs, so that copies of this process have it."""
    for level in (0, 2):
        _target_machine(level)
    data_layout()


def _optimise(module, machine, join: bool = True, combine: bool = True) -> None:
    # join: joins blocks that follow one another. combine: combines instructions, which takes time that grows with
    # the square of the number of conditions on one value.
    # No dead store elimination: LLVM assumes that a function's stack is dead after it returns, but
    # here results may remain on it for the caller (`emit/returned.rs` of the compiler).
    llvm = _llvm()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
    manager = llvm.create_new_module_pass_manager()
    # First, so that the other passes see the arguments of the calls.
    manager.add_always_inliner_pass()
    manager.add_sroa_pass()
    if combine:
        manager.add_instruction_combine_pass()
    else:
        manager.add_sccp_pass()
    if join:
        manager.add_simplify_cfg_pass()
    manager.add_global_dead_code_eliminate_pass()
    manager.run(module, builder)


def generate(
    program: Any, *, emit_assembly: bool = False, verify: bool = False, variables: bool = False
) -> list[bytes]:
    """Compile the program to object files (or the encoded assembly text).

    Frequently executed code is one file, rarely executed code, which is compiled in a fraction of
    the time, another. variables: describe them in the debug information.
    """
    llvm = _llvm()
    files = []
    for assembly, thorough, divided, compares_often in program.parts(TRIPLE, data_layout(), variables):
        machine = _target_machine(2 if thorough else 0)
        try:
            module = llvm.parse_assembly(assembly)
        except RuntimeError as error:
            raise RuntimeError(f"this is a bug in the Kairos compiler, please report it: {error}") from None
        if verify:
            module.verify()
        _optimise(module, machine, join=not divided, combine=not compares_often)
        files.append(machine.emit_assembly(module).encode() if emit_assembly else machine.emit_object(module))
    return files
