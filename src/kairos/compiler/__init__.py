"""Compiles a call of a kernel function to a library for the core device.

The front end is Rust (`kairos._native`); this package answers its queries about host objects, runs
LLVM's code generation, and links the result.
"""

import functools
import io
import itertools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from kairos import _native
from kairos.compiler import codegen, steps
from kairos.compiler.annotations import QuotingError, read_annotation
from kairos.compiler.cache import ArraySlot, Cache, Recorder, request_key, without_arrays
from kairos.compiler.embedding import EmbeddingMap
from kairos.compiler.numbers import Numbers
from kairos.compiler.quoting import HostBridge
from kairos.compiler.scalars import ScalarSlot, changing_of, kind_of, numbers_as_data
from kairos.diagnostics import Diagnostic, Range
from kairos.errors import CompileError

__all__ = [
    "STAGES",
    "CompileError",
    "CompiledKernel",
    "CompiledSubkernel",
    "EmbeddingMap",
    "Frame",
    "LinkError",
    "check",
    "compile_kernel",
    "emit",
    "numbers_as_data",
    "plain_annotation",
    "restored",
    "restored_subkernel",
    "steps",
]

STAGES = ("ast", "types", "ir", "llvm", "asm", "elf")
"""Stages whose output `emit` can return."""


_LIBRARY_BITS = 24
"""Address bits within a library."""


class LinkError(Exception):
    """The code cannot be linked: a defect of the compiler, or a kernel beyond its limits."""


class Frame(NamedTuple):
    """A place in the source; lines and columns start at 1."""

    file: str
    line: int
    column: int
    function: str


class CompiledSubkernel:
    """A library for a satellite."""

    def __init__(
        self, number: int, destination: int, library: bytes, with_debug_information: Callable[[], bytes]
    ) -> None:
        self.number, self.destination, self.library = number, destination, library
        """Number: by which kernels refer to it."""
        self.with_debug_information = with_debug_information
        """Returns the library with its debug information."""

    @functools.cached_property
    def unstripped(self) -> bytes:
        """The library with its debug information."""
        return self.with_debug_information()

    def symbolize(self, addresses: list[int]) -> list[Frame]:
        """Map return addresses, relative to the load address, to places, innermost first."""
        return [Frame(*place) for place in _native.symbolize(self.unstripped, addresses)]


class CompiledKernel:
    """A kernel library and the data that the host needs to run it."""

    def __init__(
        self,
        library: bytes,
        embedding: EmbeddingMap,
        timings: dict[str, float],
        warnings: list[str],
        with_debug_information: Callable[[], bytes],
        cached: bool = False,
        subkernels: tuple[CompiledSubkernel, ...] = (),
    ) -> None:
        self.library, self.embedding, self.warnings = library, embedding, warnings
        self.timings = timings
        """Seconds of each step: `front_end`, `llvm`, `link`, and `total`."""
        self.with_debug_information = with_debug_information
        """Returns `unstripped`."""
        self.cached = cached
        """Whether it comes from the cache of an earlier compilation."""
        self.subkernels = subkernels
        """The libraries that satellites run for it."""

    @functools.cached_property
    def unstripped(self) -> bytes:
        """The library with its debug information."""
        return self.with_debug_information()

    def symbolize(self, addresses: list[int]) -> list[Frame]:
        """Map return addresses, relative to the load address, to places, innermost first.

        Addresses in subkernels have the subkernel's number in bits 31 to 24.
        """
        libraries = {subkernel.number: subkernel for subkernel in self.subkernels}
        frames = []
        for address in addresses:
            library = libraries.get(address >> _LIBRARY_BITS, self)
            places = _native.symbolize(library.unstripped, [address & (1 << _LIBRARY_BITS) - 1])
            frames += [Frame(*place) for place in places]
        return frames


class _Call:
    """A call to compile, with its options."""

    def __init__(
        self,
        function: Callable,
        args: tuple | list,
        kwargs: dict[str, Any],
        core: Any,
        set_result: Callable | None,
        attribute_writeback: bool,
        print_as_rpc: bool,
    ) -> None:
        self.function, self.args, self.kwargs, self.core = function, args, kwargs, core
        self.set_result = set_result
        self.numbers = Numbers()
        self.changing = changing_of(core)
        self.changing.note_changes()
        self.options = {"writeback": attribute_writeback, "print_as_rpc": print_as_rpc}

    def quoted(self) -> tuple[HostBridge, tuple]:
        """Create the host bridge for one compilation, and the request. Later queries may depend on
        both."""
        embedding = EmbeddingMap()
        # Stored first, so that it has the number 1 that tools expect.
        result_key = None if self.set_result is None else embedding.store_object(self.set_result)
        bridge = HostBridge(embedding, self.core, self.numbers, self.changing)
        options = {**self.options, "set_result": result_key, "ref_period": float(self.core.ref_period)}
        quote = bridge.quote_argument
        function, args = quote(self.function), [quote(arg) for arg in self.args]
        kwargs = [(name, quote(arg)) for name, arg in self.kwargs.items()]
        bridge.keep_arguments(function, args, kwargs)
        return bridge, (function, args, kwargs, options)


def _requested(bridge: HostBridge, request: tuple) -> tuple:
    """Return a request with the kinds of the numbers that are arguments in place of their values, which are
    compared as answers of the host."""
    function, args, kwargs, options = request
    kinds = {id(value): kind_of(value) for value in bridge.arguments.values()}
    plain = [kinds.get(id(value), value) for value in args]
    return function, plain, [(name, kinds.get(id(value), value)) for name, value in kwargs], options


def _rejected(error: Exception) -> CompileError:
    text, *records = error.args
    return CompileError(text if text.startswith("error") else f"error: {text}", *map(_diagnostic, records))


def _diagnostic(record: tuple) -> Diagnostic:
    """Convert the compiler's record to a diagnostic."""

    def place(span: tuple | None) -> Range | None:
        return Range(span[0], span[1:3], span[3:]) if span else None

    warning, message, span, note, labels, advice, text, origin, kind = record
    related = tuple((place(where), label) for where, label in labels)
    return Diagnostic(message, place(span), text, warning, note, related, tuple(advice), origin, kind)


def _analysed(call: _Call) -> tuple[Any, Recorder]:
    """Analyse a call; returns the program, and a record of the compiler's queries to the host."""
    try:
        bridge, (function, args, kwargs, options) = call.quoted()
        host = Recorder(bridge)
        program = _native.compile(host, function, args, kwargs, **options)
        for number in bridge.arguments:
            host.argument(number)
    except (_native.RejectedError, QuotingError) as error:
        raise _rejected(error) from None
    return program, host


def _front_end(function, args, kwargs, core, set_result, attribute_writeback, print_as_rpc=True):
    """Return the program of a call, and its embedding map."""
    program, host = _analysed(_Call(function, args, kwargs, core, set_result, attribute_writeback, print_as_rpc))
    return program, host.embedding


def _checked(warnings: list[str], strict: bool) -> list[str]:
    """Return the warnings about a program; `CompileError` if there are any and `strict` is set."""
    if strict and warnings:
        raise CompileError("\n\n".join([*warnings, "error: with --strict, warnings are errors"]))
    return warnings


def _link(object_files: list[bytes], program: Any) -> tuple[bytes, list[ArraySlot], list[ScalarSlot]]:
    """Link the library; also returns the locations of host arrays, and of numbers, that nothing else in it
    depends on."""
    try:
        library, arrays, scalars = _native.link(object_files, program)
        return library, arrays, [ScalarSlot(*place) for place in scalars]
    except RuntimeError as error:
        raise LinkError(f"the kernel cannot be linked: {error}") from None


def _subkernel(number: int, destination: int, unstripped: bytes) -> CompiledSubkernel:
    return CompiledSubkernel(number, destination, _native.strip(unstripped), lambda: unstripped)


def compile_kernel(
    function: Callable,
    args: tuple | list,
    kwargs: dict[str, Any],
    *,
    core: Any,
    set_result: Callable | None,
    attribute_writeback: bool = True,
    print_as_rpc: bool = True,
    strict: bool = False,
    cache: Cache | None = None,
    variables: bool = False,
) -> CompiledKernel:
    """Compile the call `function(*args, **kwargs)` for the core device `core`, or return it from
    the cache.

    The library sends the result of the call to `set_result`, if given, and writes attributes of
    host objects back if `attribute_writeback` is set. Its `print` calls the host, or, without
    `print_as_rpc`, writes to the log of the device. `cache`: by default the user's. `variables`: the debug information
    has them, for a debugger; the code is the same. Raises
    `CompileError` if the program is rejected, and with `strict` also for warnings.
    """
    start = time.perf_counter()
    call = _Call(function, args, kwargs, core, set_result, attribute_writeback, print_as_rpc)
    cache = Cache.of_user() if cache is None else cache
    try:
        fresh, request = call.quoted()
        key = request_key(function, (*_requested(fresh, request), variables)) if cache.directory else ""
    except (QuotingError, ValueError):
        cache, key = Cache(None), ""  # the compilation will report the error
    bridges = itertools.chain([fresh], (call.quoted()[0] for _ in itertools.count())) if cache.directory else iter(())
    if found := cache.find(key, bridges.__next__):
        entry, embedding = found.entry, found.bridge.embedding
        warnings = _checked(entry["warnings"], strict)
        call.changing.remember(found.bridge, found.places)
        library = found.library(entry["library"])
        unstripped = functools.partial(found.library, entry["unstripped"])
        subkernels = tuple(_subkernel(*kept) for kept in entry["subkernels"])
        seconds = time.perf_counter() - start
        timings = {"front_end": seconds, "llvm": 0.0, "link": 0.0, "total": seconds}
        return CompiledKernel(library, embedding, timings, warnings, unstripped, True, subkernels)
    program, recorder = _analysed(call)
    warnings = _checked(program.warnings(), strict)
    lowered = time.perf_counter()
    subkernels = program.subkernels()
    programs = (program, *(one for _, _, one in subkernels))
    object_files = [codegen.generate(one, variables=variables) for one in programs]
    generated = time.perf_counter()
    unstripped, arrays, scalars = _link(object_files[0], program)
    call.changing.remember(recorder.bridge, scalars)
    library = _native.strip(unstripped)
    linked = [
        (number, destination, *_link(files, one)[:2])
        for (number, destination, one), files in zip(subkernels, object_files[1:], strict=True)
    ]
    end = time.perf_counter()
    if cache.directory:
        if linked:
            arrays = []  # arrays present in several libraries: their content is kept and compared
        parts = {"library": without_arrays(library, arrays), "unstripped": without_arrays(unstripped, arrays)}
        parts["subkernels"] = [(number, destination, whole) for number, destination, whole, _ in linked]
        cache.keep(key, recorder, arrays, scalars, {**parts, "warnings": warnings})
    timings = {"front_end": lowered - start, "llvm": generated - lowered, "link": end - generated, "total": end - start}
    compiled = tuple(_subkernel(*one[:3]) for one in linked)
    return CompiledKernel(library, recorder.embedding, timings, warnings, lambda: unstripped, subkernels=compiled)


def restored(unstripped: bytes, subkernels: tuple[CompiledSubkernel, ...] = ()) -> CompiledKernel:
    """Return a kernel that was compiled before, from its library with debug information. It knows nothing
    of the objects that it was compiled for. RuntimeError if that is no library."""
    library, timings = _native.strip(unstripped), dict.fromkeys(("front_end", "llvm", "link", "total"), 0.0)
    return CompiledKernel(library, EmbeddingMap(), timings, [], lambda: unstripped, True, subkernels)


def restored_subkernel(number: int, destination: int, unstripped: bytes) -> CompiledSubkernel:
    """The same for a subkernel."""
    return _subkernel(number, destination, unstripped)


def emit(
    stage: str,
    function: Callable,
    args: tuple | list = (),
    kwargs: dict[str, Any] | None = None,
    *,
    core: Any,
    strict: bool = False,
    warnings: list[str] | None = None,
):
    """Return the compiler's output after `stage`, one of `STAGES`: text, or bytes for `elf`; for a
    program that starts subkernels an archive (tar) of all its libraries.

    The program is standalone, like startup and idle kernels: it sends no result, writes no
    attributes back, and its `print` writes to the log of the device. Raises `CompileError` if it is
    rejected, and for `elf` also if it calls a function of the host. Warnings are appended to the
    list `warnings`; with `strict` they are errors.
    """
    if stage not in STAGES:
        raise ValueError(f"there is no stage {stage!r}; there are {', '.join(STAGES)}")

    program, _ = _front_end(function, args, kwargs or {}, core, None, False, print_as_rpc=False)
    found = _checked(program.warnings(), strict)
    if warnings is not None:
        warnings += found
    if stage == "elf" and (reason := program.needs_host()):
        raise CompileError(reason)
    if stage in ("ast", "types", "ir"):
        return getattr(program, stage)()
    if stage == "llvm":
        return program.llvm(codegen.TRIPLE, codegen.data_layout())
    if stage == "asm":
        return b"\n".join(codegen.generate(program, emit_assembly=True)).decode()
    library = _native.strip(_link(codegen.generate(program), program)[0])
    subkernels = [
        (f"{number} {destination}.elf", _native.strip(_link(codegen.generate(one), one)[0]))
        for number, destination, one in program.subkernels()
    ]
    return _archive([("main.elf", library), *subkernels]) if subkernels else library


def _archive(parts: list[tuple[str, bytes]]) -> bytes:
    """Build an uncompressed, reproducible tar file of these names and contents."""
    out = io.BytesIO()
    import tarfile  # imported late: few programs have several libraries

    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in parts:
            head = tarfile.TarInfo(name)
            head.size = len(content)
            archive.addfile(head, io.BytesIO(content))
    return out.getvalue()


def check(function: Callable, args: tuple | list = (), kwargs: dict[str, Any] | None = None, *, core: Any):
    """Check the call `function(*args, **kwargs)`; returns a list of
    `kairos.diagnostics.Diagnostic`.

    Nothing is compiled. There is at most one error per statement, and none that merely follows from
    another.
    """
    try:
        bridge, (quoted, quoted_args, quoted_kwargs, _) = _Call(
            function, args, kwargs or {}, core, None, False, True
        ).quoted()
        found = _native.check(bridge, quoted, quoted_args, quoted_kwargs)
    except QuotingError as error:
        return [Diagnostic(str(error), None, f"error: {error}")]
    return [_diagnostic(record) for record in found]


def plain_annotation(annotation: Any, function: Callable) -> str:
    """Return the compiler's name for the kind of the annotated type; "" if kernels do not support
    it."""
    try:
        return read_annotation(annotation, function, "an argument")[0]
    except QuotingError:
        return ""


# Not earlier: until the library is mapped, no other module in C can be imported.
codegen.begin_to_load()
