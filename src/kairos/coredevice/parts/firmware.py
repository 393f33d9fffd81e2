"""Functions of the firmware, declared as data for kernels to call."""

import inspect

from ...language import TNone, syscall

__all__ = ["NOWRITE", "QUIET", "firmware_function"]

NOWRITE = ("nowrite",)
"""changes no attribute of an object"""
QUIET = ("nounwind", "nowrite")
"""raises nothing either"""


def firmware_function(symbol, parameters, result=TNone, flags=(), text=None):
    """The function `symbol` of the firmware; `parameters` are pairs of name and type."""

    def call(*_args, **_kwargs):
        raise NotImplementedError(f"the firmware's {symbol} can only be called from a kernel")

    named = dict(parameters)
    call.__name__ = call.__qualname__ = symbol
    call.__doc__ = text
    call.__annotations__ = {**named, "return": result}
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    call.__signature__ = inspect.Signature([inspect.Parameter(name, kind, annotation=named[name]) for name in named])
    return syscall(symbol, flags)(call)
