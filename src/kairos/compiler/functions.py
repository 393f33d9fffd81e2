"""What Python knows of a function, and of the attributes of objects."""

import types
from typing import Any

from kairos.errors import NotInKairos
from kairos.language.core import EmbeddedInfo

__all__ = ["NOTHING", "closure", "embedded", "has_attribute", "signature", "static", "undecorated"]

NOTHING = object()
"""In place of a default value or an annotation."""


def embedded(value: Any) -> EmbeddedInfo | None:
    """Return the decorators' record of a function. Dummies with arbitrary attributes have none."""
    try:
        info = getattr(value, "artiq_embedded", None)
    except NotInKairos:  # reported where it is used
        return None
    return info if isinstance(info, EmbeddedInfo) else None


def undecorated(function: Any) -> Any:
    info = embedded(function)
    return info.function if info is not None and info.function is not None else function


def signature(function: Any) -> list[tuple[str, Any, Any]]:
    """Return the parameters of a function: name, annotation, default value."""
    code = getattr(function, "__code__", None)
    if not isinstance(function, types.FunctionType) or hasattr(function, "__signature__") or code.co_kwonlyargcount:
        import inspect  # imported late, as in `static`

        found = inspect.signature(function, follow_wrapped=False).parameters.values()
        given = [(param.name, param.annotation, param.default) for param in found]
        return [tuple(NOTHING if part is inspect.Parameter.empty else part for part in one) for one in given]
    # Equivalent to `inspect`, in a tenth of the time. Variadic parameters count as parameters.
    flags = code.co_flags
    count = code.co_argcount + (flags >> 2 & 1) + (flags >> 3 & 1)  # with `*args`, and with `**kwargs`
    names, defaults = code.co_varnames[:count], function.__defaults__ or ()
    start = code.co_argcount - len(defaults)
    annotations = function.__annotations__
    return [
        (name, annotations.get(name, NOTHING), defaults[n - start] if start <= n < code.co_argcount else NOTHING)
        for n, name in enumerate(names)
    ]


def static(obj: Any, name: str, default: Any) -> Any:
    """`inspect.getattr_static`"""
    from inspect import getattr_static  # imported late: most kernels that are found among the kept ones do not ask

    return getattr_static(obj, name, default)


def has_attribute(obj: Any, name: str) -> bool:
    """Return whether `static` finds an attribute."""
    return any(name in vars(base) for base in type(obj).__mro__) or static(obj, name, NOTHING) is not NOTHING


def closure(function: Any) -> dict[str, Any]:
    """Return the closure variables of a function that have a value."""
    values = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:
            pass  # not assigned yet
    return values
