"""Kernel session, TCP 1381: numbers of its messages.

Generated from src/contracts/session.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = [
    "PORT",
    "GREETING",
    "LITTLE_ENDIAN",
    "BIG_ENDIAN",
    "SYNC_BYTE",
    "SYNC_LENGTH",
    "RUNTIME_ID",
    "RUNTIME_ID_SOFT",
    "RPC_EXCEPTION_LENGTH",
    "HOST_STRING",
    "Request",
    "Reply",
    "AsyncError",
    "ASYNC_ERROR_TEXTS",
]

PORT = 1381
"""TCP port of the service."""

GREETING = b"ARTIQ coredev\n"
"""What a client sends first."""

LITTLE_ENDIAN = 101
"""The device's answer to a greeting, `e`: its numbers are little endian."""

BIG_ENDIAN = 69
"""The answer of a big-endian device, `E`, which Kairos does not serve."""

SYNC_BYTE = 90
"""Each of the bytes in front of a message."""

SYNC_LENGTH = 4
"""So many of them."""

RUNTIME_ID = b"ARZQ"
"""Runtime id of a Zynq; nothing follows it."""

RUNTIME_ID_SOFT = b"AROR"
"""Runtime id of a device with a soft core: identifier and a flag follow."""

RPC_EXCEPTION_LENGTH = 48
"""Bytes of an RpcException behind its type."""

HOST_STRING = 0xFFFF_FFFF
"""Length of a string that lives on the host: instead of text follows its key."""


class Request(IntEnum):
    """Requests of the host."""

    SYSTEM_INFO = 3
    """What are you?"""
    LOAD_KERNEL = 5
    """Take this kernel library."""
    RUN_KERNEL = 6
    """Run the library that was loaded last."""
    RPC_REPLY = 7
    """What a called function returned."""
    RPC_EXCEPTION = 8
    """What a called function raised."""
    SUBKERNEL_UPLOAD = 9
    """A library for a satellite."""


class Reply(IntEnum):
    """Messages of the device."""

    SYSTEM_INFO = 2
    """Answer to SystemInfo."""
    LOAD_COMPLETED = 5
    """The library is ready to run."""
    LOAD_FAILED = 6
    """The library cannot be run."""
    KERNEL_FINISHED = 7
    """The kernel has returned."""
    KERNEL_MISSING = 8
    """There is no kernel to run."""
    KERNEL_EXCEPTION = 9
    """The kernel has ended with an exception."""
    RPC_REQUEST = 10
    """The kernel calls a function of the host."""
    CLOCK_FAILURE = 15
    """The RTIO clock was lost; nothing more follows."""


class AsyncError(IntEnum):
    """RTIO errors that no kernel was waiting for, since the kernel before."""

    COLLISION = 1
    """Two events wanted the same channel at one time."""
    BUSY = 2
    """A PHY was not ready for an event."""
    SEQUENCE_ERROR = 4
    """An event found no lane."""


ASYNC_ERROR_TEXTS = {
    AsyncError.COLLISION: "collision(s)",
    AsyncError.BUSY: "busy error(s)",
    AsyncError.SEQUENCE_ERROR: "sequence error(s)",
}
"""What a message calls them."""
