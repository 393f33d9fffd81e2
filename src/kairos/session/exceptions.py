"""Converts the report of an uncaught exception to the Python exception raised to the caller of a kernel."""

from ..exceptions.names import device_class
from ..exceptions.report import CoreException, DeviceException

__all__ = ["build_python_exception"]


def build_python_exception(core_exception: CoreException, embedding) -> BaseException:
    """Return the Python exception that ended the kernel, with the device's report attached: the one that a
    host function raised, or one of the class that the kernel raised."""
    newest = core_exception.newest
    exception = None
    if newest.message_key is not None:
        exception = embedding.host_exception(newest.name_key, newest.message_key)
    if exception is None:
        exception = _create(newest, core_exception.message, embedding)
    try:
        exception.artiq_core_exception = core_exception  # type: ignore[attr-defined]
    except Exception:
        pass  # a class of the user's whose attributes cannot be set
    return exception


def _create(newest: DeviceException, message: str, embedding) -> BaseException:
    identifier, _, qualified = newest.name.partition(":")
    # The name comes from the device: only exceptions are called, and what is none of `Exception`, such as
    # SystemExit, only if the kernel names it.
    cls = embedding.exception_class(newest.name_key)
    if cls is None:
        cls = device_class(newest.name) if identifier == "0" else _object(embedding, identifier)
        if not (isinstance(cls, type) and issubclass(cls, Exception)):
            cls = None
    try:
        if cls is not None:
            return cls(message)
    except Exception:
        pass  # cannot be made from a text
    return RuntimeError(f"{qualified}: {message}")


def _object(embedding, identifier: str) -> object:
    try:
        return embedding.retrieve_object(int(identifier))
    except (KeyError, ValueError):
        return None
