"""Host objects that represent names of the language, and functions of mathematics that kernels lack."""

import importlib
import sys
from functools import cache
from typing import Any

from kairos import _native
from kairos.numeric import floor, int32, int64, is_loaded, numpy, ufunc

__all__ = ["computes", "name_of"]

_SPECIAL = "scipy.special"
"""Not imported here: host code that passes one of its functions to a kernel has imported it."""

_NUMPY = "numpy"
_KNOWN = {id(int32): "int32", id(int64): "int64", id(floor): "numpy.floor"}
_KNOWN |= {
    id(getattr(importlib.import_module(module), attribute)): name
    for module, attribute, name in _native.host_objects()
    if module != _SPECIAL and module.partition(".")[0] != _NUMPY
}
"""Compiler names of the host objects that represent language names, by identity."""

_SPECIAL_FUNCTIONS = {attribute: name for module, attribute, name in _native.host_objects() if module == _SPECIAL}
_MATHEMATICS = ("math", "cmath", "statistics", "numpy", "scipy")
"""Modules of pure functions: calling them on the host without using a result is pointless."""

_WITHOUT_RESULT = {"copyto", "fill_diagonal", "place", "put", "putmask", "save", "savetxt", "savez", "savez_compressed"}
"""Functions of NumPy with side effects."""


@cache
def _names_of_numpy() -> dict[int, str]:
    """Return the compiler names of NumPy's objects, by identity."""
    rows = [row for row in _native.host_objects() if row[0].partition(".")[0] == _NUMPY]
    found = {id(getattr(importlib.import_module(module), attribute)): name for module, attribute, name in rows}
    return found | {id(numpy.float64): "float", id(numpy.bool_): "bool"}


def name_of(value: Any) -> str | None:
    """Return the compiler's name of a host object that represents a name of the language."""
    known = _KNOWN.get(id(value))
    if known is None and is_loaded():
        known = _names_of_numpy().get(id(value)) or (_special(value) if isinstance(value, ufunc) else None)
    return known


def _special(value: Any) -> str | None:
    """Return the name of a function of `scipy.special` that kernels support; does not import it."""
    special = sys.modules.get(_SPECIAL)
    functions = _SPECIAL_FUNCTIONS.items() if special else ()
    return next((name for attribute, name in functions if value is getattr(special, attribute, None)), None)


def computes(value: Any) -> bool:
    """Return whether this is a function of a mathematics library that computes a result."""
    if isinstance(value, ufunc):
        return True
    module = getattr(value, "__module__", None)
    if not isinstance(module, str) or isinstance(value, type) or not callable(value):
        return False
    package, _, rest = module.partition(".")
    random = rest.startswith("random")
    return package in _MATHEMATICS and not random and getattr(value, "__name__", None) not in _WITHOUT_RESULT
