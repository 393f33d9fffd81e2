"""Converts the report of an uncaught exception to the Python exception raised to the caller of a kernel."""

from ..exceptions.names import device_class
from ..exceptions.report import CoreException

__all__ = ["build_python_exception"]


def build_python_exception(core_exception: CoreException, retrieve_object) -> Exception:
    """Build the Python exception of the class that the kernel raised, with the device's report
    attached."""
    identifier, _, qualified = core_exception.name.partition(":")
    cls = None
    if identifier == "0":
        # A host function may have raised any Python exception.
        cls = device_class(core_exception.name)
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
