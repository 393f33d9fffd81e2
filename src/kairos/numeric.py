"""NumPy, imported when it is first needed: that takes longer than compiling a kernel, and many experiments make
no array.

`numpy` here stands for the module, and imports it when one of its names is used. Whether a value is one of NumPy's
can be asked without that: as long as nothing has imported NumPy there is none, so `isinstance(value, ndarray)` with
the stand-in of this module is false. `int32`, `int64` and `floor` are for drivers: kernels have them as NumPy's own,
and on the host they call those.
"""

import sys
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = [
    "Wide",
    "array_function",
    "bool_",
    "float64",
    "floating",
    "floor",
    "generic",
    "int32",
    "int64",
    "integer",
    "is_loaded",
    "load",
    "ndarray",
    "numpy",
    "original",
    "stand_in",
    "ufunc",
]


def is_loaded() -> bool:
    """Return whether something has imported NumPy, or is importing it."""
    return "numpy" in sys.modules


def load() -> None:
    """Import NumPy now: before something that must not wait for it."""
    import_module("numpy")


class _Deferred(ModuleType):
    """A module whose names are those of the one with its name, which is imported for the first of them."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # of tools that look into every module
            raise AttributeError(name)
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


numpy: Any = _Deferred("numpy")


class _Class(type):
    """A class that stands for one of NumPy."""

    def __instancecheck__(cls, value: Any) -> bool:
        return "numpy" in sys.modules and isinstance(value, _of_numpy(cls))

    def __call__(cls, *args: Any) -> Any:
        return _of_numpy(cls)(*args)

    def __repr__(cls) -> str:
        return f"<class 'numpy.{cls.__name__}'>"


def _class(name: str) -> Any:
    return _Class(name, (), {})


generic, ndarray, ufunc = _class("generic"), _class("ndarray"), _class("ufunc")
integer, floating, bool_ = _class("integer"), _class("floating"), _class("bool_")
int32, int64, float64 = _class("int32"), _class("int64"), _class("float64")
array_function = _class("array_function")
"""The class of NumPy's functions of arrays that are written in Python."""


def floor(value: float) -> Any:
    """`numpy.floor`"""
    return numpy.floor(value)


class Wide(int):
    """An integer that kernels have as an int64, whatever its value: for attributes and constants of drivers, which
    are made before anything needs NumPy."""


@cache
def _of_numpy(one: Any) -> Any:
    module = import_module("numpy")
    return type(module.copyto) if one is array_function else getattr(module, one.__name__)


@cache
def _stand_ins() -> dict[int, Any]:
    return {id(_of_numpy(one)): one for one in (int32, int64, float64, bool_, floor)}


def original(one: Any) -> Any:
    """Return what a stand-in stands for; the stand-in itself as long as nothing has imported NumPy."""
    return _of_numpy(one) if isinstance(one, _Class) and is_loaded() else one


def stand_in(value: Any) -> Any:
    """Return the stand-in of a number type of NumPy, or of `numpy.floor`; any other value itself."""
    return _stand_ins().get(id(value), value) if is_loaded() else value
