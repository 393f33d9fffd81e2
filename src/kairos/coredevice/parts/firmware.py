"""Firmware functions callable from kernels. Their types are defined in
`src/contracts/kernel_symbols.toml`."""

import inspect

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


def firmware_function(symbol, parameters="", flags=(), text=None):
    """Return the firmware function `symbol` with the given parameter names."""

    def call(*_args, **_kwargs):
        raise NotImplementedError(f"the firmware's {symbol} can only be called from a kernel")

    names, (kinds, result) = parameters.split(), SIGNATURES[symbol]
    types = {name: kernel_type(kind) for name, kind in zip(names, kinds, strict=True)}
    call.__name__ = call.__qualname__ = symbol
    call.__doc__ = text
    call.__annotations__ = types | {"return": kernel_type(result)}
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    call.__signature__ = inspect.Signature([inspect.Parameter(n, positional, annotation=types[n]) for n in names])
    return syscall(symbol, flags)(call)
