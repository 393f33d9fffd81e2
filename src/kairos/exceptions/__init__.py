"""Exceptions raised by the core device.

The device names an exception ``0:<class>``, which refers to the class of that name here. Built-in
Python exceptions that kernels can raise are therefore names of this module too.
"""

from builtins import (
    AssertionError,
    AttributeError,
    IndexError,
    IOError,
    KeyError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    TimeoutError,
    TypeError,
    ValueError,
    ZeroDivisionError,
)

from ..errors import CompileError, KairosError, LoadError
from .report import CoreException

__all__ = [
    "AssertionError",
    "AttributeError",
    "CacheError",
    "CXPError",
    "ClockFailure",
    "CompileError",
    "CoreException",
    "DMAError",
    "I2CError",
    "IndexError",
    "IOError",
    "KeyError",
    "LoadError",
    "NotImplementedError",
    "OverflowError",
    "RPCReturnValueError",
    "RemoteMemoryError",
    "RTIODestinationUnreachable",
    "RTIOOverflow",
    "RTIOUnderflow",
    "RuntimeError",
    "SPIError",
    "SubkernelError",
    "TimeoutError",
    "TypeError",
    "UnsupportedDevice",
    "UnwrapNoneError",
    "ValueError",
    "ZeroDivisionError",
]


def __getattr__(name: str) -> type:
    """Return `LinAlgError`, which is NumPy's."""
    if name == "LinAlgError":
        from numpy.linalg import LinAlgError  # imported late: see kairos.numeric

        return LinAlgError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class RTIOUnderflow(Exception):
    """An output event was submitted too late: the hardware counter had passed the time cursor.

    Give the kernel more slack, with ``core.break_realtime()`` or a ``delay`` before the event.
    """


class RTIOOverflow(Exception):
    """An input channel recorded events faster than the kernel read them; at least one was lost."""


class RTIODestinationUnreachable(Exception):
    """The satellite board of a channel is not connected."""


class DMAError(Exception):
    """A DMA recording cannot be created, found or played."""


class CacheError(Exception):
    """A cache row was replaced while a kernel was using it."""


class I2CError(Exception):
    """An I2C transaction failed."""


class SPIError(Exception):
    """An SPI transaction failed."""


class SubkernelError(Exception):
    """A kernel on a satellite failed."""


class CXPError(Exception):
    """A CoaXPress camera or its frame grabber failed."""


class RemoteMemoryError(Exception):
    """A load or store in another board's memory was refused, or the board did not answer."""


class UnwrapNoneError(Exception):
    """A kernel used the content of an empty option."""


class ClockFailure(Exception):
    """The RTIO clock of the core device was lost."""


class UnsupportedDevice(KairosError):
    """The device at the address is not a core device supported by Kairos."""


class RPCReturnValueError(ValueError):
    """A host function called by a kernel returned a value that its annotation does not allow."""
