"""LLVM, in process: a program to an object file for the core device's Cortex-A9."""

import functools
from typing import Any

__all__ = ["CortexA9Target", "TRIPLE", "data_layout", "generate"]

TRIPLE = "armv7-unknown-linux-gnueabihf"
_FEATURES = "+dsp,+fp16,+neon,+vfp3"


class CortexA9Target:
    """The processor that kernels are compiled for."""

    triple = TRIPLE
    features = _FEATURES.replace("+", "").split(",")
    little_endian = True
    now_pinning = False
    """The time cursor is not a register of the gateware."""


@functools.cache
def _llvm():
    # Here, because it takes 0.1 s, which the stages before it do not need.
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
    """The data layout of the device."""
    return str(_target_machine(2).target_data)


def _optimise(module, machine) -> None:
    # No elimination of dead stores: to LLVM a function's stack is dead when it returns, and here
    # what it has made may lie there for its caller (`emit/returned.rs` of the compiler).
    llvm = _llvm()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
    manager = llvm.create_new_module_pass_manager()
    # First, so that what the others find includes the arguments of the calls.
    manager.add_always_inliner_pass()
    manager.add_sroa_pass()
    manager.add_instruction_combine_pass()
    manager.add_simplify_cfg_pass()
    manager.add_global_dead_code_eliminate_pass()
    manager.run(module, builder)


def generate(program: Any, *, emit_assembly: bool = False, verify: bool = False) -> list[bytes]:
    """The object files (or the machine's assembly text, encoded) of the compiler's program.

    What runs often is one of them, what does not, and is compiled in a fraction of the time, another.
    """
    llvm = _llvm()
    files = []
    for assembly, thorough in program.parts(TRIPLE, data_layout()):
        machine = _target_machine(2 if thorough else 0)
        try:
            module = llvm.parse_assembly(assembly)
        except RuntimeError as error:
            raise RuntimeError(f"this is a bug in the Kairos compiler, please report it: {error}") from None
        if verify:
            module.verify()
        _optimise(module, machine)
        files.append(machine.emit_assembly(module).encode() if emit_assembly else machine.emit_object(module))
    return files
