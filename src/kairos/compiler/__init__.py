"""Compiles a call of a kernel function to the library that the core device runs.

The front end is Rust (`kairos._native`); this package answers its questions about host objects, has LLVM generate code
and links it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from kairos import _native
from kairos.compiler import codegen
from kairos.compiler.annotations import QuotingError
from kairos.compiler.embedding import EmbeddingMap
from kairos.compiler.quoting import HostBridge
from kairos.errors import CompileError

__all__ = ["STAGES", "CompileError", "CompiledKernel", "EmbeddingMap", "Frame", "LinkError", "compile_kernel", "emit"]

STAGES = ("ast", "types", "ir", "llvm", "asm", "elf")
"""What `emit` can give."""


class LinkError(Exception):
    """The code cannot be linked. A defect of the compiler, or a kernel beyond its limits."""


class Frame(NamedTuple):
    """A place in the source; lines and columns from 1."""

    file: str
    line: int
    column: int
    function: str


@dataclass(frozen=True)
class CompiledKernel:
    """A kernel library and what the host needs to run it."""

    library: bytes
    embedding: EmbeddingMap
    timings: dict[str, float]
    """Seconds that each step took: `front_end`, `llvm`, `link`, and `total`."""
    warnings: list[str]
    unstripped: bytes
    """The library with its debug information."""

    def symbolize(self, addresses: list[int]) -> list[Frame]:
        """Places of return addresses, relative to the load address, innermost first."""
        return [Frame(*frame) for frame in _native.symbolize(self.unstripped, list(addresses))]


def _front_end(
    function: Callable,
    args: tuple | list,
    kwargs: dict[str, Any],
    core: Any,
    set_result: Callable | None,
    attribute_writeback: bool,
    print_as_rpc: bool = True,
) -> tuple[Any, EmbeddingMap]:
    embedding = EmbeddingMap()
    # First, so that it has the number 1 that tools expect.
    result_key = None if set_result is None else embedding.store_object(set_result)
    bridge = HostBridge(embedding, core)
    try:
        quoted = bridge.quote(function)
        program = _native.compile(
            bridge,
            quoted,
            [bridge.quote(arg) for arg in args],
            [(name, bridge.quote(arg)) for name, arg in kwargs.items()],
            set_result=result_key,
            writeback=attribute_writeback,
            print_as_rpc=print_as_rpc,
            ref_period=float(core.ref_period),
        )
    except (_native.RejectedError, QuotingError) as error:
        text = str(error)
        raise CompileError(text if text.startswith("error") else f"error: {text}") from None
    return program, embedding


def _link(object_file: bytes) -> bytes:
    try:
        return _native.link([object_file])
    except RuntimeError as error:
        raise LinkError(f"the kernel cannot be linked: {error}") from None


def compile_kernel(
    function: Callable,
    args: tuple | list,
    kwargs: dict[str, Any],
    *,
    core: Any,
    set_result: Callable | None,
    attribute_writeback: bool = True,
    print_as_rpc: bool = True,
) -> CompiledKernel:
    """Compile the call `function(*args, **kwargs)` for the core device `core`.

    The library sends the result of the call to `set_result`, if that is given, and writes attributes of host objects
    back when `attribute_writeback` is set. `print` in it calls the host, or, without `print_as_rpc`, writes to the log
    of the device. Raises `CompileError` when the program is rejected.
    """
    start = time.perf_counter()
    program, embedding = _front_end(function, args, kwargs, core, set_result, attribute_writeback, print_as_rpc)
    assembly = program.llvm(codegen.TRIPLE, codegen.data_layout())
    lowered = time.perf_counter()
    object_file = codegen.compile_assembly(assembly)
    generated = time.perf_counter()
    unstripped = _link(object_file)
    library = _native.strip(unstripped)
    end = time.perf_counter()
    timings = {"front_end": lowered - start, "llvm": generated - lowered, "link": end - generated, "total": end - start}
    return CompiledKernel(library, embedding, timings, program.warnings(), unstripped)


def emit(stage: str, function: Callable, args: tuple | list = (), kwargs: dict[str, Any] | None = None, *, core: Any):
    """What the compiler has after `stage`, one of `STAGES`: text, or bytes for `elf`.

    The program stands for itself, as startup and idle kernels do: it sends no result, writes no attributes back, and
    its `print` writes to the log of the device. Raises `CompileError` when it is rejected, and for `elf` also when it
    calls a function of the host.
    """
    if stage not in STAGES:
        raise ValueError(f"there is no stage {stage!r}; there are {', '.join(STAGES)}")

    program, _ = _front_end(function, args, kwargs or {}, core, None, False, print_as_rpc=False)
    if stage == "elf" and (reason := program.needs_host()):
        raise CompileError(reason)
    if stage in ("ast", "types", "ir"):
        return getattr(program, stage)()
    assembly = program.llvm(codegen.TRIPLE, codegen.data_layout())
    if stage == "llvm":
        return assembly
    if stage == "asm":
        return codegen.compile_assembly(assembly, emit_assembly=True).decode()
    return _native.strip(_link(codegen.compile_assembly(assembly)))
