"""Names of exception classes on the device."""

import builtins

from .. import exceptions
from ..contracts.exceptions import HOST_BUILTIN_PREFIX, HOST_PREFIX, PREALLOCATED

__all__ = ["device_name"]

_FIXED = {getattr(exceptions, name.split(":")[-1].split(".")[-1]): name for name in PREALLOCATED}
"""Those that the firmware raises, whatever their class calls itself and wherever it is from."""


def device_name(cls: type) -> str | None:
    """The name of an exception that a kernel can raise or catch; None if the class is known to its program only."""
    if cls in _FIXED:
        return _FIXED[cls]
    if cls.__module__ == builtins.__name__:
        return HOST_BUILTIN_PREFIX + cls.__name__
    if cls.__module__ == exceptions.__name__:
        return HOST_PREFIX + cls.__name__
    return None
