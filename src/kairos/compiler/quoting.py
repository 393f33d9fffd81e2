"""Answers the compiler's questions about host objects: values, attributes, functions.

A value is described by a tuple that begins with its kind; `src/native/src/bridge.rs` reads them. Objects are
named by their numbers in the embedding map.
"""

import builtins
import importlib
import inspect
import linecache
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy

from kairos import _native
from kairos import exceptions as device_exceptions
from kairos.compiler.annotations import QuotingError, read_annotation
from kairos.compiler.embedding import EmbeddingMap
from kairos.contracts.exceptions import HOST_BUILTIN_PREFIX, HOST_PREFIX, PRELUDE
from kairos.language.core import EmbeddedInfo

__all__ = ["HostBridge"]

_SPECIAL = "scipy.special"
"""Not imported here: host code that hands a function of it to a kernel has done so."""

_OBJECTS = [entry for entry in _native.host_objects() if entry[0] != _SPECIAL]
_KNOWN = {id(getattr(importlib.import_module(module), attribute)): name for module, attribute, name in _OBJECTS}
"""What stands for a name of the kernel language: the compiler's name for it, by identity."""

_SPECIAL_FUNCTIONS = {attribute: name for module, attribute, name in _native.host_objects() if module == _SPECIAL}
_ARRAY_ELEMENTS = {"int32": "int32", "int64": "int64", "float64": "float", "bool": "bool"}

_PRELUDE_EXCEPTIONS = tuple(getattr(builtins, name) for name in PRELUDE)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, numpy.ufunc)
_INT32 = range(-(2**31), 2**31)
_INT64 = range(-(2**63), 2**63)


class HostBridge:
    """The host, as one compilation sees it."""

    def __init__(self, embedding: EmbeddingMap, core: Any) -> None:
        self.embedding = embedding
        self.core = core

    def quote(self, value: Any) -> tuple:
        """The tuple of a host value."""
        kind = type(value)
        known = _KNOWN.get(id(value)) or (kind is numpy.ufunc and _special(value))
        if known:
            return ("builtin", known)
        if value is None:
            return ("none",)
        if kind is bool or kind is numpy.bool_:
            return ("bool", bool(value))
        if kind is int:
            return self._integer(value, value not in _INT32)
        if kind is numpy.int32:
            return ("int32", int(value))
        if kind is numpy.int64:
            return ("int64", int(value))
        if isinstance(value, float):
            return ("float", float(value))
        if kind is str:
            return ("str", value)
        if kind is list:
            return ("list", self.embedding.store_object(value), self._elements(value))
        if isinstance(value, tuple):
            return ("tuple", self._elements(value))
        if kind is range:
            return ("range", self._elements((value.start, value.stop, value.step)))
        if kind is numpy.ndarray:
            return self._array(value)
        return self._reference(value)

    def _integer(self, value: int, wide: bool) -> tuple:
        if value not in _INT64:
            raise QuotingError(f"the integer {value} does not fit into 64 bits")
        return ("int64" if wide else "int32", value)

    def _elements(self, values: list | tuple) -> list[tuple]:
        """Elements of a sequence. Plain integers side by side share a width that holds them all."""
        if all(type(value) is int for value in values):
            wide = any(value not in _INT32 for value in values)
            return [self._integer(value, wide) for value in values]
        return [self.quote(value) for value in values]

    def _array(self, value: numpy.ndarray) -> tuple:
        """An array: the type of its elements, its shape, its elements in row-major order."""
        elt = _ARRAY_ELEMENTS.get(value.dtype.name)
        if elt is None or value.ndim == 0:
            wanted = "kernels have arrays of int32, int64, float64 and bool, of one dimension or more"
            raise QuotingError(f"a NumPy array of {value.ndim} dimensions of {value.dtype.name}: {wanted}")
        elements = [(elt, element) for element in value.ravel().tolist()]
        return ("array", self.embedding.store_object(value), (elt,), list(value.shape), elements)

    def _reference(self, value: Any) -> tuple:
        """Objects, functions, classes and modules: things that are named, not copied."""
        store = self.embedding.store_object
        if isinstance(value, types.MethodType):
            return ("method", store(value.__func__), store(value.__self__))
        if isinstance(value, _FUNCTIONS) or hasattr(value, "artiq_embedded"):
            return ("function", store(value))
        if isinstance(value, type) and issubclass(value, BaseException):
            return ("exception", self._exception_key(value), value.__name__)
        if isinstance(value, type | types.ModuleType):
            return ("namespace", store(value), f"{type(value).__name__} {value.__name__}")
        if isinstance(value, numpy.generic | bytes | bytearray | complex):
            return ("opaque", type(value).__qualname__)
        return ("object", store(value))

    def _exception_key(self, cls: type) -> int:
        if cls in _PRELUDE_EXCEPTIONS:
            return self.embedding.store_str(HOST_BUILTIN_PREFIX + cls.__name__)
        if cls.__module__ == device_exceptions.__name__:
            return self.embedding.store_str(HOST_PREFIX + cls.__name__)
        return self.embedding.store_str(f"{self.embedding.store_object(cls)}:{cls.__module__}.{cls.__qualname__}")

    # What the compiler asks.

    def global_value(self, function: int, name: str) -> tuple | None:
        """A module global, or a variable of the functions around it, seen by a function."""
        plain = _undecorated(self.embedding.retrieve_object(function))
        scope = _closure(plain)
        if name not in scope:
            scope = plain.__globals__
        return self.quote(scope[name]) if name in scope else None

    def global_names(self, function: int) -> list[str]:
        plain = _undecorated(self.embedding.retrieve_object(function))
        return [*_closure(plain), *plain.__globals__]

    def attribute(self, handle: int, name: str) -> tuple | None:
        """Value of an attribute of an object."""
        obj = self.embedding.retrieve_object(handle)
        try:
            value = getattr(obj, name)
        except AttributeError:
            if inspect.getattr_static(obj, name, None) is not None:
                raise  # a property that failed
            return None
        return self.quote(value)

    def attribute_names(self, handle: int) -> list[str]:
        return dir(self.embedding.retrieve_object(handle))

    def class_of(self, handle: int) -> tuple[int, str, list[str]]:
        """Class of an object: its number, its name, and the object's kernel invariants."""
        obj = self.embedding.retrieve_object(handle)
        cls = type(obj)
        invariants = sorted(getattr(obj, "kernel_invariants", ()))
        return self.embedding.store_object(cls), f"{cls.__module__}.{cls.__qualname__}", invariants

    def store_str(self, text: str) -> int:
        return self.embedding.store_str(text)

    def print_function(self) -> int:
        return self.embedding.store_object(print)

    def function(self, handle: int) -> tuple:
        """Record of a function: name, qualified name, kind, parameters, return type."""
        function = self.embedding.retrieve_object(handle)
        plain = _undecorated(function)
        info: EmbeddedInfo = getattr(function, "artiq_embedded", None) or EmbeddedInfo()
        name = getattr(plain, "__name__", type(plain).__name__)
        module = getattr(plain, "__module__", None) or "builtins"
        qualified = f"{module}.{getattr(plain, '__qualname__', name)}".replace(".<locals>", "")
        kind = self._kind(name, plain, info)
        params: list[tuple] = []
        returns = None
        if kind[0] in ("compiled", "syscall"):
            params = self._parameters(plain)
        if isinstance(plain, types.FunctionType):
            annotation = plain.__annotations__.get("return", inspect.Signature.empty)
            if annotation is not inspect.Signature.empty:
                returns = read_annotation(annotation, plain, "return type")
        return name, qualified, kind, params, returns

    def _kind(self, name: str, plain: Any, info: EmbeddedInfo) -> tuple:
        if info.forbidden:
            return ("forbidden", "this function cannot be called as an RPC")
        if info.syscall is not None:
            return ("syscall", info.syscall, "nounwind" in info.flags)
        if info.destination is not None:
            return ("forbidden", f"'{name}' is a subkernel; subkernels are not supported yet")
        if info.core_name is not None or info.portable:
            if name == "<lambda>":
                return ("forbidden", "lambdas cannot be used as kernel functions")
            code = plain.__code__
            lines = linecache.getlines(code.co_filename, plain.__globals__)
            if not lines:
                return ("forbidden", f"the source of '{name}' cannot be read: no file {code.co_filename}")
            inline = 2 if "forceinline" in info.flags else int("inline" in info.flags)
            text, line = "".join(lines), code.co_firstlineno
            return ("compiled", code.co_filename, text, line, "fast-math" in info.flags, inline)
        return ("rpc", "async" in info.flags)

    def _parameters(self, plain: Callable) -> list[tuple]:
        params = []
        for param in inspect.signature(plain, follow_wrapped=False).parameters.values():
            annotation = default = None
            if param.annotation is not param.empty:
                annotation = read_annotation(param.annotation, plain, f"argument '{param.name}'")
            if param.default is not param.empty:
                default = self.quote(param.default)
            params.append((param.name, annotation, default))
        return params


def _undecorated(function: Any) -> Any:
    info = getattr(function, "artiq_embedded", None)
    return info.function if info is not None and info.function is not None else function


def _closure(function: Any) -> dict[str, Any]:
    """Variables of the host functions around a function that it uses, as far as they have a value."""
    values = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:
            pass  # not assigned yet
    return values


def _special(value: Any) -> str | None:
    """The name of a function of `scipy.special` that kernels know; does not import it."""
    special = sys.modules.get(_SPECIAL)
    functions = _SPECIAL_FUNCTIONS.items() if special else ()
    return next((name for attribute, name in functions if value is getattr(special, attribute, None)), None)
