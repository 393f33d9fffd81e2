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
        for module in (device_exceptions, builtins):
            cls = cls or getattr(module, name, None)
    else:
        try:
            cls = retrieve_object(int(identifier))
        except (KeyError, ValueError):
            pass
    message = core_exception.message
    try:
        # The name comes from the device: nothing else is called.
        if not (isinstance(cls, type) and issubclass(cls, Exception)):
            raise TypeError
        exception = cls(message)
    except Exception:
        exception = RuntimeError(f"{qualified}: {message}")
    exception.artiq_core_exception = core_exception
    return exception
