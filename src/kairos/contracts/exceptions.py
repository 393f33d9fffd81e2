"""Exception ids shared by host, compiler and firmware.

Generated from src/contracts/exceptions.toml by src/contracts/generate.py: do not edit.
"""

__all__ = ["HOST_PREFIX", "HOST_BUILTIN_PREFIX", "PREALLOCATED", "PRELUDE", "IDS"]

HOST_PREFIX = "0:artiq.coredevice.exceptions."
"""Prefix of the names of the device's own exceptions in the host's string table."""

HOST_BUILTIN_PREFIX = "0:"
"""Prefix of the names of Python's exceptions."""

PREALLOCATED = (
    HOST_PREFIX + "RTIOUnderflow",
    HOST_PREFIX + "RTIOOverflow",
    HOST_PREFIX + "RTIODestinationUnreachable",
    HOST_PREFIX + "DMAError",
    HOST_PREFIX + "I2CError",
    HOST_PREFIX + "CacheError",
    HOST_PREFIX + "SPIError",
    HOST_PREFIX + "SubkernelError",
    HOST_BUILTIN_PREFIX + "AssertionError",
    HOST_BUILTIN_PREFIX + "AttributeError",
    HOST_BUILTIN_PREFIX + "IndexError",
    HOST_BUILTIN_PREFIX + "IOError",
    HOST_BUILTIN_PREFIX + "KeyError",
    HOST_BUILTIN_PREFIX + "NotImplementedError",
    HOST_BUILTIN_PREFIX + "OverflowError",
    HOST_BUILTIN_PREFIX + "RuntimeError",
    HOST_BUILTIN_PREFIX + "TimeoutError",
    HOST_BUILTIN_PREFIX + "TypeError",
    HOST_BUILTIN_PREFIX + "ValueError",
    HOST_BUILTIN_PREFIX + "ZeroDivisionError",
    HOST_BUILTIN_PREFIX + "LinAlgError",
    HOST_PREFIX + "UnwrapNoneError",
    HOST_PREFIX + "CXPError",
    HOST_PREFIX + "RemoteMemoryError",
)
"""Names in the host's string table, by id."""

PRELUDE = ("IndexError", "RuntimeError", "ValueError", "ZeroDivisionError")
"""Those that kernels know without an import."""

IDS = {
    "RTIOUnderflow": 0,
    "RTIOOverflow": 1,
    "RTIODestinationUnreachable": 2,
    "DMAError": 3,
    "I2CError": 4,
    "CacheError": 5,
    "SPIError": 6,
    "SubkernelError": 7,
    "AssertionError": 8,
    "AttributeError": 9,
    "IndexError": 10,
    "IOError": 11,
    "KeyError": 12,
    "NotImplementedError": 13,
    "OverflowError": 14,
    "RuntimeError": 15,
    "TimeoutError": 16,
    "TypeError": 17,
    "ValueError": 18,
    "ZeroDivisionError": 19,
    "LinAlgError": 20,
    "UnwrapNoneError": 21,
    "CXPError": 22,
    "RemoteMemoryError": 23,
}
"""Ids, by name."""
