"""Kernel session, TCP 1381: message numbers.

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
"""Greeting sent by the client."""

LITTLE_ENDIAN = 101
"""The device's answer to a greeting, `e`: numbers are little endian."""

BIG_ENDIAN = 69
"""The answer of a big-endian device, `E`, which Kairos does not serve."""

SYNC_BYTE = 90
"""Value of the synchronisation bytes before a message."""

SYNC_LENGTH = 4
"""Number of synchronisation bytes."""

RUNTIME_ID = b"ARZQ"
"""Runtime id of a Zynq; nothing follows it."""

RUNTIME_ID_SOFT = b"AROR"
"""Runtime id of a device with a soft core; followed by an identifier and a flag."""

RPC_EXCEPTION_LENGTH = 48
"""Length of an RpcException after its type, in bytes."""

HOST_STRING = 0xFFFF_FFFF
"""Length that marks a string stored on the host; its key follows instead of the text."""


class Request(IntEnum):
    """Requests of the host."""

    SYSTEM_INFO = 3
    """Request the runtime id."""
    LOAD_KERNEL = 5
    """Load this kernel library."""
    RUN_KERNEL = 6
    """Run the library loaded last."""
    RPC_REPLY = 7
    """Return value of a called function."""
    RPC_EXCEPTION = 8
    """Exception raised by a called function."""
    SUBKERNEL_UPLOAD = 9
    """Upload a library for a satellite."""


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
    """Asynchronous RTIO errors since the previous kernel."""

    COLLISION = 1
    """Two events had the same channel and time."""
    BUSY = 2
    """A PHY was not ready for an event."""
    SEQUENCE_ERROR = 4
    """No lane was available for an event."""


ASYNC_ERROR_TEXTS = {
    AsyncError.COLLISION: "collision(s)",
    AsyncError.BUSY: "busy error(s)",
    AsyncError.SEQUENCE_ERROR: "sequence error(s)",
}
"""What a message calls them."""
