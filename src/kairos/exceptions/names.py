"""Names of exception classes on the device."""

import builtins
import sys

from .. import exceptions
from ..contracts.exceptions import HOST_BUILTIN_PREFIX, HOST_PREFIX, PREALLOCATED

__all__ = ["classes_of_firmware", "device_class", "device_name"]

_LINALG = "numpy.linalg"


class _LinAlgError(ValueError):
    """Stands for NumPy's as long as nothing has imported it."""


def device_class(name: str) -> type | None:
    """Return the class of an exception ``0:<name>``: one of the device's own, or of Python; None if
    there is none."""
    name = name.removeprefix(HOST_PREFIX).removeprefix(HOST_BUILTIN_PREFIX)
    found = getattr(exceptions, name, None) or getattr(builtins, name, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


_LINALG_ERROR = HOST_BUILTIN_PREFIX + "LinAlgError"
_FIXED = {device_class(name): name for name in PREALLOCATED if name != _LINALG_ERROR}
"""Exceptions raised by the firmware, regardless of the class's own name and module."""


def classes_of_firmware() -> list[type]:
    """Return the classes of the exceptions that the firmware raises, in the order of their keys."""
    linalg = sys.modules.get(_LINALG)
    by_name = {name: cls for cls, name in _FIXED.items()}
    return [by_name.get(name) or getattr(linalg, "LinAlgError", _LinAlgError) for name in PREALLOCATED]


def device_name(cls: type) -> str | None:
    """Return the name of an exception that kernels can raise or catch; None for classes of the
    experiment."""
    if cls in _FIXED:
        return _FIXED[cls]
    if cls is getattr(sys.modules.get(_LINALG), "LinAlgError", None):
        return _LINALG_ERROR
    if cls.__module__ == builtins.__name__:
        return HOST_BUILTIN_PREFIX + cls.__name__
    if cls.__module__ == exceptions.__name__:
        return HOST_PREFIX + cls.__name__
    return None
