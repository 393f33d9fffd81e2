"""Runs compiled kernels on this machine's processor: a fast way to test the results of generated
code.

Test-only. The code is generated for the host, the firmware's functions are Python functions, and
every run takes place in a forked child, because an exception cannot unwind through Python: it ends
the child instead. `try` can therefore not be tested here.
"""

import ast
import ctypes
import functools
import gc
import math
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from kairos import compiler
from kairos.compiler import codegen
from kairos.compiler.llvm import optimise
from kairos.contracts.kernel_symbols import SIGNATURES
from kairos.language import kernel, rpc, types

NUMBERS = {
    "none": None,
    "bool": ctypes.c_bool,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    # Lists are passed by address.
    "list": ctypes.c_void_p,
    "longs": ctypes.c_void_p,
}
SCALARS = {"i": ctypes.c_int32, "I": ctypes.c_int64, "f": ctypes.c_double, "b": ctypes.c_bool}


class Core:
    """The parts of a core device that the compiler uses."""

    ref_period = 1e-9
    kernel_invariants = {"ref_period"}


@dataclass
class Result:
    value: Any = None
    """return value of the kernel"""
    exception: tuple[str, tuple[int, int, int]] | None = None
    """name and parameters of the exception, if any"""
    message: str = ""
    """message of the exception, from the line that raised it, with the parameters inserted"""
    calls: tuple = ()
    """calls of firmware functions, in order: (name, arguments)"""
    now: int = 0
    """the time cursor at the end"""


class Experiment:
    """Holds a kernel under test as `run`, and supplies values that the compiler cannot know."""

    kernel_invariants = {"core"}

    def __init__(self, **attributes: Any) -> None:
        self.core = Core()
        for name, value in attributes.items():
            setattr(self, name, value)

    @rpc
    def int32(self) -> types.TInt32:
        """Return the next input."""

    @rpc
    def int64(self) -> types.TInt64:
        """Return the next input."""

    @rpc
    def float(self) -> types.TFloat:
        """Return the next input."""

    @rpc
    def bool(self) -> types.TBool:
        """Return the next input."""


def _message(record: int, embedding: compiler.EmbeddingMap) -> str:
    """Return the constant text raised by the line of an exception record; empty if it has none."""
    key, length, line = (ctypes.c_int32.from_address(record + offset).value for offset in (4, 8, 12))
    if length != -1:
        return ""
    try:
        tree = ast.parse(Path(embedding.retrieve_str(key)).read_text())
    except (IndexError, OSError, ValueError):
        return ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and node.lineno <= line <= node.end_lineno and isinstance(node.exc, ast.Call):
            return next((str(one.value) for one in node.exc.args if isinstance(one, ast.Constant)), "")
    return ""


@functools.cache
def _target():
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_default_triple()


def _native_machine():
    """Return a machine; that of an engine belongs to it."""
    return _target().create_target_machine(opt=2, jit=True)


class Compiled:
    """A kernel compiled for this machine."""

    def __init__(self, function: Callable, args: tuple = (), core: Any = None) -> None:
        def set_result(_value: Any) -> None:
            pass

        core = core or Core()
        program, self.embedding = compiler._front_end(function, args, {}, core, set_result, False)
        machine = _native_machine()
        self.assembly = program.llvm(llvm.get_default_triple(), str(machine.target_data))
        module = llvm.parse_assembly(self.assembly)
        module.verify()
        optimise(module._ptr, machine._ptr, codegen.passes())
        self._module = module

    @functools.cached_property
    def _entry(self) -> Callable:
        """The kernel's machine code. It is made once and before the fork: a child that makes its own writes to
        thousands of pages, each of which the system has to copy for it."""
        for function in self._module.functions:
            if function.is_declaration and (function.name in RUNTIME or function.name in SIGNATURES):
                llvm.add_symbol(function.name, ctypes.cast(_stub(function.name), ctypes.c_void_p).value)
        llvm.add_symbol("rtio_cursor", ctypes.addressof(CURSOR))
        self._engine = llvm.create_mcjit_compiler(self._module, _native_machine())
        self._engine.finalize_object()
        return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._engine.get_function_address("__modinit__"))

    def run(self, *inputs: Any, firmware: dict[str, Callable] | None = None, calls: list | None = None) -> Result:
        """Run the kernel; `inputs` answer its remote calls in order, `firmware` are functions of
        numbers that it may call besides `rtio_output`, by symbol. `calls`: a list that gives these
        access to all calls so far.
        """
        entry = self._entry
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            gc.disable()
            run = Run(inputs, writer, firmware or {}, [] if calls is None else calls, self.embedding)
            Run.current = run
            entry(None)
            run.end()
        os.close(writer)
        with os.fdopen(reader, "rb") as stream:
            content = stream.read()
        _, status = os.waitpid(child, 0)
        assert content, f"the kernel ended with status {status}"
        answer = pickle.loads(content)
        if isinstance(answer, BaseException):
            raise answer
        return answer


class Run:
    """A run of a kernel in its child: what it calls, and the report of its end."""

    current: "Run"
    """that of this process"""

    def __init__(
        self,
        inputs: tuple,
        writer: int,
        firmware: dict[str, Callable],
        calls: list,
        embedding: compiler.EmbeddingMap,
    ) -> None:
        self.result = Result()
        self.pending = list(inputs)
        self.awaited: list[str] = []
        self.writer = writer
        self.firmware = firmware
        self.calls = calls
        self.embedding = embedding

    def end(self, error: BaseException | None = None) -> None:
        """Report the result, or an error of the test itself, and end the child."""
        self.result.calls, self.result.now = tuple(self.calls), CURSOR.value
        try:
            content = pickle.dumps(error or self.result)
        except Exception as unpicklable:
            content = pickle.dumps(AssertionError(f"{error or self.result}: {unpicklable}"))
        with os.fdopen(self.writer, "wb") as stream:
            stream.write(content)
        os._exit(0)

    def call(self, symbol: str, *values: Any) -> Any:
        """Carry out a kernel's call of a firmware function. An error of the test ends the child: through the kernel it
        would be lost."""
        try:
            if symbol in self.firmware:
                self.calls.append((symbol, values))
                return self.firmware[symbol](*values)
            if symbol not in RUNTIME:
                raise AssertionError(f"the kernel calls {symbol}, which the test does not provide")
            return RUNTIME[symbol][1](self, *values)
        except BaseException as error:
            self.end(error)

    def send(self, service: int, tag: Any, data: Any) -> None:
        arguments, _, answer = _tag(tag).partition(":")
        values = _read_all(arguments, data)
        self.awaited.append(answer)
        if answer == "n":
            self.calls.append(("rpc", tuple(values)))

    def send_async(self, service: int, tag: Any, data: Any) -> None:
        values = _read_all(_tag(tag).partition(":")[0], data)
        if service == 1:
            self.result.value = values[0]
        else:
            self.calls.append(("async", tuple(values)))

    def receive(self, slot: int) -> int:
        kind = self.awaited[-1]
        if kind in SCALARS:
            SCALARS[kind].from_address(slot).value = self.pending.pop(0)
        return 0

    def raise_(self, record: int) -> None:
        key = ctypes.c_int32.from_address(record).value
        params = tuple(ctypes.c_int64.from_address(record + 40 + 8 * n).value for n in range(3))
        self.result.exception = (self.embedding.retrieve_str(key).split(":")[1], params)
        self.result.message = _message(record, self.embedding).format(*params)
        self.end()

    def output(self, target: int, data: int) -> None:
        self.calls.append(("rtio_output", (CURSOR.value, target, data)))


CURSOR = ctypes.c_int64(0)
"""the time cursor of a kernel; a child has its own"""

_POINTER, _I32 = ctypes.c_void_p, ctypes.c_int32
RUNTIME: dict[str, tuple[Any, Callable]] = {
    "rpc_send": (ctypes.CFUNCTYPE(None, _I32, _POINTER, _POINTER), Run.send),
    "rpc_send_async": (ctypes.CFUNCTYPE(None, _I32, _POINTER, _POINTER), Run.send_async),
    "rpc_recv": (ctypes.CFUNCTYPE(_I32, _POINTER), Run.receive),
    "__artiq_raise": (ctypes.CFUNCTYPE(None, _POINTER), Run.raise_),
    "__artiq_resume": (ctypes.CFUNCTYPE(None), lambda run: None),
    "__kairos_in_flight": (ctypes.CFUNCTYPE(_I32), lambda run: 0),
    "__kairos_end_catch": (ctypes.CFUNCTYPE(None, _I32), lambda run, depth: None),
    "__artiq_personality": (ctypes.CFUNCTYPE(_I32), lambda run: 0),
    "rtio_output": (ctypes.CFUNCTYPE(None, _I32, _I32), Run.output),
    "__powidf2": (ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, _I32), lambda run, x, n: x**n),
}
"""Functions of the runtime that every kernel has: their types, and what carries them out."""


@functools.cache
def _stub(symbol: str) -> Any:
    """Return the function that kernels of this process call by a symbol."""

    def call(*values):
        return Run.current.call(symbol, *values)

    def call_with_place(place, *values):
        for (name, _), value in zip(pair._fields_, call(*values), strict=True):
            setattr(pair.from_address(place), name, value)

    if symbol in RUNTIME:
        return RUNTIME[symbol][0](call)
    arguments, result = SIGNATURES[symbol]
    kinds = [NUMBERS[argument] for argument in arguments]
    if result in NUMBERS:
        return ctypes.CFUNCTYPE(NUMBERS[result], *kinds)(call)
    # A tuple is written to the address given by the caller.
    members = result.strip("()").split(", ")
    pair = type("Pair", (ctypes.Structure,), {"_fields_": [(f"m{n}", NUMBERS[m]) for n, m in enumerate(members)]})
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, *kinds)(call_with_place)


def _tag(address: int) -> str:
    data = ctypes.c_void_p.from_address(address).value
    length = ctypes.c_int32.from_address(address + 8).value
    return ctypes.string_at(data, length).decode("latin-1")


def _read_all(tags: str, data: int) -> list:
    values = []
    index = 0
    position = 0
    while position < len(tags):
        address = ctypes.c_void_p.from_address(data + 8 * index).value
        value, position, _ = _read(tags, position, address)
        values.append(value)
        index += 1
    return values


def _align(address: int, size: int) -> int:
    return (address + size - 1) // size * size


def _read(tags: str, position: int, address: int) -> tuple[Any, int, int]:
    """Read a value of the tag at `position`; returns the value, the position after the tag, the
    address after the value."""
    tag = tags[position]
    position += 1
    if tag in SCALARS:
        size = ctypes.sizeof(SCALARS[tag])
        address = _align(address, size)
        return SCALARS[tag].from_address(address).value, position, address + size
    if tag == "s":
        address = _align(address, 8)
        data = ctypes.c_void_p.from_address(address).value
        return ctypes.string_at(data, ctypes.c_int32.from_address(address + 8).value).decode(), position, address + 16
    if tag == "l":
        address = _align(address, 8)
        header = ctypes.c_void_p.from_address(address).value
        element = ctypes.c_void_p.from_address(header).value
        values, end = [], position
        for _ in range(ctypes.c_int32.from_address(header + 8).value):
            value, end, element = _read(tags, position, element)
            values.append(value)
        return values, max(end, position + 1), address + 8
    if tag == "t":
        count = ord(tags[position])
        position += 1
        values = []
        for _ in range(count):
            value, position, address = _read(tags, position, address)
            values.append(value)
        return tuple(values), position, address
    if tag == "a":
        dims = ord(tags[position])
        position += 1
        address = _align(address, 8)
        element = ctypes.c_void_p.from_address(address).value
        shape = [ctypes.c_int32.from_address(address + 8 + 4 * n).value for n in range(dims)]
        values, end = [], position
        for _ in range(math.prod(shape)):
            value, end, element = _read(tags, position, element)
            values.append(value)
        return np.array(values).reshape(shape), max(end, position + 1), _align(address + 8 + 4 * dims, 8)
    if tag == "O":
        address = _align(address, 8)
        return "object", position, address + 8
    if tag == "n":
        return None, position, address
    if tag == "k":
        name, _, address = _read("s", 0, address)
        value, position, address = _read(tags, position, address)
        return (name, value), position, address
    raise ValueError(f"no tag {tag}")


def compile_body(body: str, **attributes: Any) -> Compiled:
    """Compile a kernel method with this body. `a = self.int32()` and the like read inputs."""
    from kairos.language import kernel_from_string

    function = kernel_from_string(["self"], body, decorator=kernel)
    experiment = Experiment(**attributes)
    return Compiled(function, (experiment,), experiment.core)


def evaluate(body: str, *inputs: Any, **attributes: Any) -> Any:
    """Return the result of a kernel with this body; AssertionError if it raises."""
    result = compile_body(body, **attributes).run(*inputs)
    assert result.exception is None, result.exception
    return result.value
