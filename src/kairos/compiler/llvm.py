"""The few functions of LLVM that code generation calls, in the library that llvmlite brings.

`llvmlite.binding` declares everything that the library can do: importing it takes four times as long as
mapping the library, and longer than compiling a small kernel.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from ctypes import CDLL, POINTER, byref, c_char_p, c_int, c_size_t, c_void_p, string_at
from functools import cache
from threading import RLock

__all__ = ["Machine", "generate", "optimise"]

_TEXT, _OBJECT, _MESSAGE = c_char_p, c_void_p, POINTER(c_void_p)
_FUNCTIONS = {
    "InitializeAllTargetInfos": (None,),
    "InitializeAllTargets": (None,),
    "InitializeAllTargetMCs": (None,),
    "InitializeAllAsmPrinters": (None,),
    "DisposeString": (None, _OBJECT),
    "GetTargetFromTriple": (_OBJECT, _TEXT, _MESSAGE),
    # target, triple, processor, features, level, relocation, code model, print, just in time, ABI
    "CreateTargetMachine": (_OBJECT, _OBJECT, _TEXT, _TEXT, _TEXT, c_int, _TEXT, _TEXT, c_int, c_int, _TEXT),
    "CreateTargetMachineData": (_OBJECT, _OBJECT),
    "CopyStringRepOfTargetData": (None, _OBJECT, _MESSAGE),
    "DisposeTargetData": (None, _OBJECT),
    "ContextCreate": (_OBJECT,),
    "ContextDispose": (None, _OBJECT),
    "ParseAssembly": (_OBJECT, _OBJECT, _TEXT, _MESSAGE),
    "VerifyModule": (c_int, _OBJECT, _MESSAGE),
    "DisposeModule": (None, _OBJECT),
    "CreatePipelineTuningOptions": (_OBJECT,),
    "DisposePipelineTuningOptions": (None, _OBJECT),
    "CreatePassBuilder": (_OBJECT, _OBJECT, _OBJECT),
    "DisposePassBuilder": (None, _OBJECT),
    "CreateNewModulePassManager": (_OBJECT,),
    "RunNewModulePassManager": (None, _OBJECT, _OBJECT, _OBJECT),
    "DisposeNewModulePassManger": (None, _OBJECT),  # spelled like this there
    "TargetMachineEmitToMemory": (_OBJECT, _OBJECT, _OBJECT, c_int, _MESSAGE),
    "GetBufferStart": (_OBJECT, _OBJECT),
    "GetBufferSize": (c_size_t, _OBJECT),
    "DisposeMemoryBuffer": (None, _OBJECT),
}
"""The functions, without the prefix of their names: type of the result, and of each argument."""
_PASS = (None, _OBJECT)
_lock = RLock()
"""Held by the thread that uses LLVM."""
if hasattr(os, "register_at_fork"):  # a copy of the process does not have the thread that would release it
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def _mapped(path: str) -> int | None:
    """Map the library while other threads of Python run, which `CDLL` would stop for the 15 ms that it takes; None if
    `CDLL` is to do it, and to say what is wrong."""
    try:
        dlopen = CDLL(None).dlopen
    except (OSError, TypeError, AttributeError):
        return None  # a system without it
    dlopen.restype, dlopen.argtypes = c_void_p, (c_char_p, c_int)
    return dlopen(os.fsencode(path), os.RTLD_NOW)


class _Library:
    """The library. Its functions are attributes, each made at its first use."""

    def __init__(self) -> None:
        import llvmlite  # imported late: by the thread that loads the library
        from llvmlite.utils import get_library_name

        path = os.path.join(os.path.dirname(llvmlite.__file__), "binding", get_library_name())
        self._library = CDLL(path, handle=_mapped(path))

    def __getattr__(self, name: str):
        function = self._library["LLVMPY_" + name]
        function.restype, *function.argtypes = _FUNCTIONS.get(name, _PASS)
        setattr(self, name, function)
        return function


@cache
def _llvm() -> _Library:
    llvm = _Library()
    llvm.InitializeAllTargetInfos()
    llvm.InitializeAllTargets()
    llvm.InitializeAllTargetMCs()
    llvm.InitializeAllAsmPrinters()
    return llvm


@contextmanager
def _disposed(made: int | None, dispose) -> Iterator[int]:
    """Dispose of an object of LLVM at the end."""
    if not made:
        raise MemoryError
    try:
        yield made
    finally:
        dispose(made)


def _taken(message: c_void_p) -> str:
    """Return a text that LLVM has made, and free it."""
    if not message.value:
        return ""
    text = string_at(message.value).decode(errors="replace")
    _llvm().DisposeString(message)
    return text


class Machine:
    """A kind of processor, and how thoroughly to compile for it: `level` 0 to 3. RuntimeError if the
    library does not have it."""

    def __init__(self, triple: str, features: str, level: int) -> None:
        with _lock:
            llvm, message, name = _llvm(), c_void_p(), triple.encode()
            target = llvm.GetTargetFromTriple(name, byref(message))
            if not target:
                raise RuntimeError(_taken(message))
            # It lives as long as the process, as its users do.
            self.made = llvm.CreateTargetMachine(
                target, name, b"", features.encode(), level, b"pic", b"default", 0, 0, b""
            )
            if not self.made:
                raise RuntimeError(f"LLVM has no machine for {triple}")

    def data_layout(self) -> str:
        """Return sizes and alignments of types, as LLVM writes them."""
        with _lock, _disposed(_llvm().CreateTargetMachineData(self.made), _llvm().DisposeTargetData) as data:
            text = c_void_p()
            _llvm().CopyStringRepOfTargetData(data, byref(text))
            return _taken(text)


def generate(
    assembly: str, machine: Machine, passes: Iterable[str], *, as_text: bool = False, verify: bool = False
) -> bytes:
    """Return the object file, or the processor's assembly, of a module in LLVM's assembly. RuntimeError with
    what LLVM finds wrong about it."""
    with _lock:
        llvm, message = _llvm(), c_void_p()
        with _disposed(llvm.ContextCreate(), llvm.ContextDispose) as context:
            parsed = llvm.ParseAssembly(context, assembly.encode(), byref(message))
            if not parsed:
                raise RuntimeError(f"LLVM IR parsing error\n{_taken(message)}")
            with _disposed(parsed, llvm.DisposeModule) as module:
                if verify and llvm.VerifyModule(module, byref(message)):
                    raise RuntimeError(_taken(message))
                _optimise(llvm, module, machine.made, passes)
                return _emitted(llvm, module, machine, as_text)


def optimise(module, machine, passes: Iterable[str]) -> None:
    """Run passes, by their names in the library, on a module of it, for a machine of it."""
    with _lock:
        _optimise(_llvm(), module, machine, passes)


def _optimise(llvm: _Library, module, machine, passes: Iterable[str]) -> None:
    with (
        _disposed(llvm.CreatePipelineTuningOptions(), llvm.DisposePipelineTuningOptions) as options,
        _disposed(llvm.CreatePassBuilder(machine, options), llvm.DisposePassBuilder) as builder,
        _disposed(llvm.CreateNewModulePassManager(), llvm.DisposeNewModulePassManger) as manager,
    ):
        for one in passes:
            getattr(llvm, f"module_Add{one}Pass")(manager)
        llvm.RunNewModulePassManager(manager, module, builder)


def _emitted(llvm: _Library, module: int, machine: Machine, as_text: bool) -> bytes:
    message = c_void_p()
    buffer = llvm.TargetMachineEmitToMemory(machine.made, module, not as_text, byref(message))
    if not buffer:
        raise RuntimeError(_taken(message))
    with _disposed(buffer, llvm.DisposeMemoryBuffer):
        return string_at(llvm.GetBufferStart(buffer), llvm.GetBufferSize(buffer))
