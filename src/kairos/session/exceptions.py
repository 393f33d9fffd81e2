"""Converts the report of an uncaught exception to the Python exception raised to the caller of a kernel."""

import builtins

from .. import exceptions as device_exceptions
from ..exceptions.report import CoreException

__all__ = ["build_python_exception"]


def build_python_exception(core_exception: CoreException, retrieve_object) -> Exception:
    """Build the Python exception of the class that the kernel raised, with the device's report
    attached."""
    identifier, _, qualified = core_exception.name.partition(":")
    cls = None
    if identifier == "0":
        name = qualified.split(".")[-1]
        # A host function may have raised any Python exception.
        cls = getattr(device_exceptions, name, None) or getattr(builtins, name, None)
    else:
        try:
            cls = retrieve_object(int(identifier))
        except (KeyError, ValueError):
            pass
    message = core_exception.message
    try:
        exception = cls(message)
        if not isinstance(exception, BaseException):
            raise TypeError
    except Exception:
        exception = RuntimeError(f"{qualified}: {message}")
    exception.artiq_core_exception = core_exception
    return exception
