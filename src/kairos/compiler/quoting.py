"""Answers the compiler's queries about host objects: values, attributes, functions.

A value is described by a tuple that begins with its kind; `src/native/src/bridge.rs` reads them.
Objects are identified by their numbers in the embedding map.
"""

import builtins
import itertools
import linecache
import types
from collections.abc import Callable
from enum import Enum
from typing import Any

from kairos import numeric
from kairos.compiler.annotations import QuotingError, read_annotation
from kairos.compiler.embedding import EmbeddingMap
from kairos.compiler.formatted_strings import call_with_texts, printed, text_function
from kairos.compiler.functions import NOTHING, closure, embedded, has_attribute, signature, static, undecorated
from kairos.compiler.instead import not_in_kernels
from kairos.compiler.language_objects import computes, name_of
from kairos.compiler.numbers import INT64, Numbers, integer
from kairos.compiler.scalars import Changing, data_names, is_number, numbers_given
from kairos.compiler.syscalls import check_syscall
from kairos.contracts.exceptions import PRELUDE
from kairos.contracts.memory import KERNEL_LIBRARY
from kairos.errors import NotInKairos
from kairos.exceptions.names import device_name
from kairos.installed import libraries
from kairos.language.core import EmbeddedInfo
from kairos.numeric import array_function, bool_, float64, int32, int64, is_loaded, ndarray, numpy, original, ufunc

__all__ = ["HostBridge"]

_ARRAY_ELEMENTS = {"int32": "<i4", "int64": "<i8", "float": "<f8", "bool": "?"}
"""Element types of arrays in kernels."""

_CLASSES = (tuple, object, complex, dict, set, frozenset, type)
_LANGUAGE_TYPES = {
    "none": (type(None),),
    "bool": (bool, bool_),
    "int32": (int, int32),
    "int64": (int, int64),
    "float": (float, float64),
    "str": (str,),
    "bytes": (bytes,),
    "bytearray": (bytearray,),
    "list": (list,),
    "tuple": (tuple,),
    "range": (range,),
    "array": (ndarray,),
}
"""Host classes of the values of a language type."""

_DEEPEST = 100
"""Maximum nesting of lists and tuples, since values are processed recursively."""

_MEMORY = len(KERNEL_LIBRARY)
"""Bytes for a kernel with its data. Larger values are rejected before copying."""

_PRELUDE_EXCEPTIONS = tuple(getattr(builtins, name) for name in PRELUDE)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, ufunc, array_function)
_NO_RECORD = EmbeddedInfo()


class HostBridge:
    """The host as seen by one compilation."""

    def __init__(self, embedding: EmbeddingMap, core: Any, numbers: Numbers, changing: Changing) -> None:
        self.embedding = embedding
        self.core = core
        self.numbers, self._changing, self.caught, self.shared = numbers, changing, embedding.caught, embedding.shared
        self.read: dict[tuple[int, str], Any] = {}
        """Numbers that were read, by the number of the object and attribute."""
        self.arguments: dict[int, tuple] = {}
        """Numbers among the arguments of the call, by parameter."""
        self._texts: dict[str, str] = {}
        """Source texts by file."""
        self._depth = 0
        """Nesting depth of the value being quoted."""

    def quote(self, value: Any) -> tuple:
        """Return the tuple of a host value."""
        kind = type(value)
        if value is None:
            return ("none",)
        if kind is bool:
            return ("bool", value)
        if kind is int:
            return integer(value)
        if isinstance(value, float):
            return ("float", float(value))
        if isinstance(value, str):
            return ("str", _utf8(str(value)))
        if kind is bytes:
            return ("bytes", value)
        if kind is bytearray:
            return ("bytearray", self.embedding.store_sequence(value), bytes(value))
        if kind is list:
            return ("list", self.embedding.store_sequence(value), self._elements(value))
        if isinstance(value, tuple):
            return self._tuple(value)
        if kind is range:
            return ("range", self._elements((value.start, value.stop, value.step)))
        if kind is numeric.Wide:
            return ("int64", *integer(int(value))[1:])
        if issubclass(kind, int):  # a member of an IntEnum
            return integer(int.__int__(value))
        if known := name_of(value):
            return ("builtin", known)
        return (is_loaded() and self._of_numpy(value)) or self._reference(value)

    def _of_numpy(self, value: Any) -> tuple | None:
        """Return the tuple of a value of NumPy; None for any other."""
        if isinstance(value, ndarray):
            return self._array(value) if type(value) is original(ndarray) else None
        if not isinstance(value, numeric.generic):
            return None
        if isinstance(value, bool_):
            return ("bool", bool(value))
        if isinstance(value, numeric.integer):
            return (_element(value.dtype, value), int(value))
        return ("float", float(value)) if isinstance(value, numeric.floating) else None

    def quote_argument(self, value: Any) -> tuple:
        """Return the tuple of an argument of the call; exceptions of user code become
        `QuotingError`."""
        try:
            return self.quote(value)
        except QuotingError:
            raise
        except Exception as error:
            raise QuotingError(f"an argument of the call cannot be read: {type(error).__name__}: {error}") from error

    def _elements(self, values: list | tuple) -> list | tuple:
        """Return the tuples of elements; numbers of Python's own types represent themselves."""
        _require_memory(len(values), "a list")
        if (numbers := self.numbers.copied(values)) is not None:
            return numbers
        kinds = set(map(type, values))
        if len(kinds) == 1 and isinstance(values[0], (int32, int64)):
            return list(zip(itertools.repeat(kinds.pop().__name__), numpy.array(values).tolist()))
        if self._depth == _DEEPEST:
            many = f"more than {_DEEPEST} of them are inside each other"
            raise QuotingError(f"a list or tuple contains itself, or {many}")
        self._depth += 1
        try:
            return [self.quote(value) for value in values]
        finally:
            self._depth -= 1

    def _tuple(self, value: tuple) -> tuple:
        """Return the tuple of a tuple; with the names of its elements, if they have any."""
        fields = getattr(type(value), "_fields", None) if type(value) is not tuple else None
        if isinstance(fields, tuple) and len(fields) == len(value) and set(map(type, fields)) == {str}:
            return ("tuple", self._elements(value), [_readable(field) for field in fields])
        return ("tuple", self._elements(value))

    def _array(self, value: ndarray) -> tuple:
        """Return the number, element type and shape of an array. Its elements are queried
        separately."""
        if value.dtype.kind == "U" and value.ndim:
            texts = [("str", _utf8(text)) for text in value.ravel().tolist()]
            return ("texts", self.embedding.store_sequence(value), list(value.shape), texts)
        if value.dtype.kind not in "iufb" or value.ndim == 0:
            wanted = "kernels have arrays of integers, floats, bool and text, of one dimension or more"
            raise QuotingError(f"a NumPy array of {value.ndim} dimensions of {value.dtype.name}: {wanted}")
        elt = _element(value.dtype, value)
        wanted = numpy.dtype(_ARRAY_ELEMENTS[elt])
        _require_memory(value.size * wanted.itemsize, "a NumPy array")
        return ("array", self.embedding.store_array(value, wanted), (elt,), list(value.shape))

    def _reference(self, value: Any) -> tuple:
        """Quote objects, functions, classes and modules, which are referenced rather than copied."""
        store = self.embedding.store_object
        if isinstance(value, types.MethodType):
            return ("method", store(value.__func__), store(value.__self__))
        if isinstance(value, _FUNCTIONS) or embedded(value) is not None or computes(value):
            return ("function", store(value))
        if isinstance(value, type) and issubclass(value, BaseException):
            return ("exception", self._exception_key(value), _readable(value.__name__), Exception in value.__mro__)
        if isinstance(value, type | types.ModuleType):
            return ("namespace", store(value), f"{_readable(type(value).__name__)} {_readable(value.__name__)}")
        if isinstance(value, (numeric.generic, complex)):
            return ("opaque", _readable(type(value).__qualname__))
        return ("object", store(value))

    def _exception_key(self, cls: type) -> int:
        name = device_name(cls) or f"{self.embedding.store_object(cls)}:{_class_name(cls)}"
        return self.embedding.store_exception(name, cls)

    def keep_arguments(self, function: tuple, args: list[tuple], kwargs: list[tuple[str, tuple]]) -> None:
        """Keep the numbers among the arguments of a call of a quoted function."""
        if function[0] in ("function", "method"):
            plain = undecorated(self.embedding.retrieve_object(function[1]))
            self.arguments = numbers_given(plain, int(function[0] == "method"), args, kwargs)

    def argument(self, number: int) -> tuple:
        """Return an argument of the call that is a number."""
        return self.arguments[number]

    # Queries of the compiler

    def global_value(self, function: int, name: str) -> tuple | None:
        """Return a module global, or a variable of the enclosing functions, as seen by a function."""
        plain = undecorated(self.embedding.retrieve_object(function))
        scope = closure(plain)
        if name not in scope:
            scope = plain.__globals__
        if name not in scope:
            # Of Python's unknown built-in names: exceptions, and the classes usable with
            # isinstance.
            known = getattr(builtins, name, None)
            named = isinstance(known, type) and (issubclass(known, BaseException) or known in _CLASSES)
            return self.quote(known) if named else None
        return self.quote(scope[name])

    def global_names(self, function: int) -> list[str]:
        plain = undecorated(self.embedding.retrieve_object(function))
        return [*closure(plain), *plain.__globals__]

    def attribute(self, handle: int, name: str) -> tuple | None:
        """Return the value of an object's attribute."""
        obj = self.embedding.retrieve_object(handle)
        name_there = name
        if "." in name:
            *path, name_there = name.split(".")
            for part in path:
                obj = getattr(obj, part)
            if type(obj) is int or isinstance(obj, numeric.generic):
                return None  # a plain number
        try:
            value = getattr(obj, name_there)
        except NotInKairos as error:
            raise QuotingError(str(error)) from None
        except AttributeError:
            if static(obj, name_there, None) is not None:
                raise  # a property that raised
            return None
        self.embedding.remember_attribute(handle, name, value)
        if is_number(value):
            self.read[handle, name] = value
        return self.quote(value)

    def attribute_names(self, handle: int) -> list[str]:
        return dir(self.embedding.retrieve_object(handle))

    def super_attribute(self, owner: int, handle: int, name: str) -> tuple | None:
        """Return an attribute found after a class, or that of a method, in the MRO of another
        class.

        Methods have the receiver 0.
        """
        cls, behind = self.embedding.retrieve_object(handle), self.embedding.retrieve_object(owner)
        if not isinstance(behind, type):
            behind = closure(undecorated(behind)).get("__class__")
        if not isinstance(behind, type) or not issubclass(cls, behind):
            raise QuotingError(
                "super() works in methods that are defined in the class of the object, or in one of its bases"
            )
        order = cls.__mro__
        found = (vars(base)[name] for base in order[order.index(behind) + 1 :] if name in vars(base))
        value = next(found, self)
        if value is self:
            return None
        if isinstance(value, types.FunctionType):
            return ("method", self.embedding.store_object(value), 0)
        return self.quote(value.__func__ if isinstance(value, staticmethod) else value)

    def is_instance(self, value: int | str, handle: int) -> bool:
        """Return whether objects of a class, or values of a language type, are instances of a
        class."""
        own = _LANGUAGE_TYPES[value] if isinstance(value, str) else (self.embedding.retrieve_object(value),)
        cls = self.embedding.retrieve_object(handle)
        if isinstance(cls, type) and int in own and issubclass(cls, int) and cls not in (int, bool):
            name = _readable(cls.__name__)
            raise QuotingError(f"isinstance() cannot tell a {name} in a kernel, where it is an integer: compare values")
        if not isinstance(cls, type):
            raise QuotingError(f"isinstance() requires a class, not the {type(cls).__name__} {cls.__name__}")
        return any(issubclass(original(one), cls) for one in own)

    def class_of(self, handle: int) -> tuple[int, str, list[str], list[str], list[str]]:
        """Return an object's class number, class name, kernel invariants, invalid ones among these, and
        the attributes that are data if they are numbers."""
        obj = self.embedding.retrieve_object(handle)
        cls = type(obj)
        invariants = getattr(obj, "kernel_invariants", ())
        # An object that answers to every attribute has no invariants.
        invariants = sorted(invariants) if isinstance(invariants, set | frozenset | list | tuple) else []
        own = getattr(obj, "__dict__", ())
        own = own if isinstance(own, dict) else ()  # nearly all are there, which is found faster
        missing = [name for name in invariants if name not in own and not has_attribute(obj, name)]
        if hasattr(cls, "__getattr__"):
            missing = [name for name in missing if not hasattr(obj, name)]
        names = invariants, missing, data_names(obj, invariants, self._changing, libraries())
        return self.embedding.store_object(cls), _class_name(cls), *names

    def constructor(self, handle: int) -> tuple[str, int | None] | None:
        """Return a class's name and the number of its `__init__`, if any; None for a module."""
        cls = self.embedding.retrieve_object(handle)
        if not isinstance(cls, type):
            return None
        name = _class_name(cls)
        if type(cls) is not type or cls.__new__ is not object.__new__:
            raise QuotingError(
                f"objects of {name} can only be created on the host: create one there and store it as an attribute"
            )
        init = cls.__init__
        if init is object.__init__:
            return name, None
        if not isinstance(init, types.FunctionType):
            raise QuotingError(
                f"the __init__ of {name} is not a Python function: create the object on the host, store it as attribute"
            )
        return name, self.embedding.store_object(init)

    def class_attribute(self, handle: int, name: str) -> tuple | None:
        """Return a class's own attribute of its objects; methods have the receiver 0."""
        cls = self.embedding.retrieve_object(handle)
        value = static(cls, name, self)
        if name == "__eq__" and _is_equal_to_itself_only(cls, value):
            return None
        if value is self or isinstance(value, types.MemberDescriptorType):
            return None
        if isinstance(value, types.FunctionType):
            return ("method", self.embedding.store_object(value), 0)
        if isinstance(value, property | classmethod):
            kind = type(value).__name__
            raise QuotingError(f"'{name}' of an object made in a kernel is a {kind}, which kernels do not have")
        return self.quote(getattr(cls, name))

    def annotation(self, function: int, text: str) -> tuple:
        """Return the type of an annotation in the body of a function."""
        plain = undecorated(self.embedding.retrieve_object(function))
        return read_annotation(text, plain, "variable")

    def memory(self, array: int) -> bytes:
        """Return the elements of an array in row-major order, as sent to the device."""
        return self.embedding.memory(array)

    def store_str(self, text: str) -> int:
        return self.embedding.store_str(text)

    def text_function(self, template: str) -> int:
        self.embedding.calls_host = True
        return self.embedding.store_object(text_function(template))

    def call_with_texts(self, function: int, templates: list[tuple[str, int] | None]) -> int:
        target = self.embedding.retrieve_object(function)
        self.embedding.calls_host = True
        return self.embedding.store_object(call_with_texts(target, templates))

    def print_function(self) -> int:
        self.embedding.calls_host = True
        return self.embedding.store_object(printed)

    def function(self, handle: int) -> tuple:
        """Return the record of a function: name, qualified name, kind, parameters, return type."""
        function = self.embedding.retrieve_object(handle)
        info = embedded(function) or _NO_RECORD
        plain = function if info.function is None else info.function
        name = _readable(getattr(plain, "__name__", type(plain).__name__))
        module = getattr(plain, "__module__", None) or "builtins"
        qualified = _readable(f"{module}.{getattr(plain, '__qualname__', name)}").replace(".<locals>", "")
        kind = self._kind(name, plain, info)
        self.embedding.calls_host |= kind[0] == "rpc"
        params: list[tuple] = []
        returns = None
        if kind[0] in ("compiled", "syscall"):
            params = self._parameters(plain)
        if isinstance(plain, types.FunctionType):
            annotation = plain.__annotations__.get("return", NOTHING)
            if annotation is not NOTHING:
                returns = read_annotation(annotation, plain, "return type")
        if kind[0] == "syscall":
            check_syscall(kind[1], params, returns)
        return name, qualified, kind, params, returns

    def _kind(self, name: str, plain: Any, info: EmbeddedInfo) -> tuple:
        if info.forbidden:
            return ("forbidden", "this function cannot be called as an RPC")
        if info.syscall is not None:
            return ("syscall", info.syscall, "nounwind" in info.flags)
        # Constructors run where the object is created.
        if info.core_name is not None or info.portable or name == "__init__":
            if name == "<lambda>":
                return ("forbidden", "lambdas cannot be used as kernel functions")
            code = plain.__code__
            text = self._texts.get(code.co_filename)
            if text is None:
                text = "".join(linecache.getlines(code.co_filename, plain.__globals__))
                self._texts[code.co_filename] = text
            if not text:
                return ("forbidden", f"the source of '{name}' cannot be read: no file {code.co_filename}")
            inline = 2 if "forceinline" in info.flags else int("inline" in info.flags)
            line, library = code.co_firstlineno, code.co_filename.startswith(libraries())
            fast_math, destination = "fast-math" in info.flags, info.destination or 0
            return ("compiled", _readable(code.co_filename), text, line, fast_math, inline, library, destination)
        if computes(plain) and embedded(plain) is None:
            return ("forbidden", not_in_kernels(plain, name))
        # The kernel does not wait for a print: output stays in order without a round trip.
        return ("rpc", "async" in info.flags or plain is print or plain is printed)

    def _parameters(self, plain: Callable) -> list[tuple]:
        params = []
        for name, annotation, default in signature(plain):
            if annotation is not NOTHING:
                annotation = read_annotation(annotation, plain, f"argument '{name}'")
            params.append(
                (
                    name,
                    None if annotation is NOTHING else annotation,
                    None if default is NOTHING else self.quote(default),
                )
            )
        return params


def _require_memory(size: int, data: str) -> None:
    if size > _MEMORY:
        raise QuotingError(f"{data} of {size} bytes: the device has {_MEMORY >> 20} MiB for a kernel and its data")


def _utf8(text: str) -> str:
    """Return the text, if it can be encoded."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = f"the text {text[:40]!a} has halves of surrogate pairs, which UTF-8 does not have"
            raise QuotingError(text) from None
    return text


def _readable(name: Any) -> str:
    """Return a name for messages; Python allows any text, kernels only UTF-8."""
    text = str(name)
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _class_name(cls: type) -> str:
    return _readable(f"{cls.__module__}.{cls.__qualname__}")


def _element(dtype: "numpy.dtype", values: Any) -> str:
    """Return the language type for all values of a NumPy type, or if there is none, for these."""
    if dtype.kind in "fb":
        return "float" if dtype.kind == "f" else "bool"
    if dtype.itemsize < 4 or dtype == numpy.int32:
        return "int32"
    if dtype.kind == "u" and dtype.itemsize == 8 and numpy.size(values) and int(numpy.max(values)) not in INT64:
        raise QuotingError(f"the {dtype.name} {int(numpy.max(values))} does not fit into 64 bits with a sign")
    return "int64"


def _is_equal_to_itself_only(cls: type, equality: Any) -> bool:
    """Return whether objects of a class with this `__eq__` are equal only if they are the same object. Members of an
    enumeration are, whatever their values are."""
    return equality is object.__eq__ or (issubclass(cls, Enum) and not isinstance(equality, types.FunctionType))
