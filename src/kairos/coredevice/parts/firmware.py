"""Firmware functions callable from kernels. Their types are defined in
`src/contracts/kernel_symbols.toml`."""

import sys
from types import FunctionType

from ...contracts.kernel_symbols import SIGNATURES
from ...language import TBool, TFloat, TInt32, TInt64, TList, TNone, TStr, TTuple, syscall

__all__ = ["NOWRITE", "QUIET", "firmware_function"]

NOWRITE = ("nowrite",)
"""changes no attribute of an object"""
QUIET = ("nounwind", "nowrite")
"""additionally raises nothing"""

TYPES = {"none": TNone, "bool": TBool, "i32": TInt32, "i64": TInt64, "str": TStr, "list": TList(TInt32)}
TYPES |= {"f64": TFloat, "doubles": TList(TFloat), "longs": TList(TInt64)}


def kernel_type(name):
    """Return the type with the contract's name `name`."""
    members = name.removeprefix("(").removesuffix(")")
    return TYPES[name] if members == name else TTuple([TYPES[member] for member in members.split(", ")])


def _call():
    # It has no variables, so that those of its code can be any parameters.
    raise NotImplementedError(f"the firmware's {sys._getframe().f_code.co_name} can only be called from a kernel")


def firmware_function(symbol, parameters="", flags=(), text=None):
    """Return the firmware function `symbol` with the given parameter names."""
    names, (kinds, result) = tuple(parameters.split()), SIGNATURES[symbol]
    named = {"co_name": symbol, "co_qualname": symbol, "co_varnames": names}
    code = _call.__code__.replace(**named, co_argcount=len(names), co_nlocals=len(names))
    call = FunctionType(code, globals(), symbol)
    call.__doc__ = text
    types = {name: kernel_type(kind) for name, kind in zip(names, kinds, strict=True)}
    call.__annotations__ = types | {"return": kernel_type(result)}
    return syscall(symbol, flags)(call)
