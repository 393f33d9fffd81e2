"""Messages between the firmware of two boards (`docs/gateware/link-messages.md`).

Generated from src/contracts/link.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = [
    "VERSION",
    "PACKET_MAX",
    "DESTINATION_MASTER",
    "KERNEL_MESSAGE_HEADER",
    "WINDOW",
    "PLAYED_NOT",
    "TEXT_MAX",
    "Message",
    "Service",
    "KernelMessage",
]

VERSION = 3
"""Version of the protocol."""

PACKET_MAX = 1024
"""Longest packet in bytes, including header and CRC: the capacity of the mailbox."""

DESTINATION_MASTER = 0
"""Destination of the board with the network connection."""

KERNEL_MESSAGE_HEADER = 12
"""Length of the header of a message of the kernel service in bytes."""

WINDOW = 4096
"""Receive buffer of a stream in bytes."""

PLAYED_NOT = 256
"""Used in place of a DMA error: there is no such trace, or another one is being played."""

TEXT_MAX = 64
"""Longest text of a hello or a refusal, and longest payload of a ping, in bytes."""


class Message(IntEnum):
    """Messages. Numbers are little endian. A stream is identified by one byte, chosen by the end nearer to the
    master."""

    HELLO = 1
    """Identification; the first message of a satellite."""
    WELCOME = 2
    """Answer to `Hello`: assigns the destination."""
    DESCRIBE = 3
    """Request the descriptor from this offset on."""
    DESCRIPTION = 4
    """Part of the gateware's descriptor."""
    PING = 5
    """Echo request."""
    PONG = 6
    """Echo reply, with the payload of the ping."""
    OPEN = 8
    """Open a byte stream to a board: the receiver, or a board behind it, to which the message is forwarded."""
    REFUSE = 9
    """Refuse a stream: no such board or service, or no resources left."""
    DATA = 10
    """Data of a stream, limited by the credit granted by the other end, initially `WINDOW` bytes."""
    CREDIT = 11
    """Grant credit for this number of further bytes."""
    CLOSE = 12
    """End of data. The stream is closed once both ends have sent this."""


class Service(IntEnum):
    """Service of a stream."""

    MANAGEMENT = 1
    """Management requests, as on TCP 1380 after the destination byte (wire protocols, section 2)."""
    KERNELS = 2
    """Control of kernels on the satellite's kernel core, by `KernelMessage`s; one client at a time."""
    ANALYZER = 3
    """Record of the satellite's analyzer for its own channels, as on TCP 1382; recording then restarts."""
    MONITOR = 4
    """Monitor and injector requests, as on TCP 1383 after the greeting; each is answered by one report."""


class KernelMessage(IntEnum):
    """Messages of the kernel service: header (kind u8, board u8, two bytes 0, number u32, length of the payload u32)
    and payload. `number` identifies a subkernel or a message; `board` is the recipient of a message from the satellite,
    or the sender of a message to it."""

    KEEP = 1
    """Store this library, replacing one with the same number."""
    LOAD = 2
    """Load the library."""
    RUN = 3
    """Run the library; load it first if needed."""
    TRACE = 5
    """Store this DMA trace, replacing one with the same number; `board` is the receiver."""
    PLAY = 6
    """Play the trace with this number; `board` is the receiver."""
    ERASE = 7
    """Delete the trace with this number."""
    STOP = 4
    """Stop the running kernel and the playback."""
    READY = 16
    """The subkernel is loaded, and running if requested. This and the next three are forwarded to the satellite whose
    kernel started it."""
    REFUSED = 17
    """The subkernel was not loaded."""
    FINISHED = 18
    """The subkernel has returned."""
    EXCEPTION = 19
    """The subkernel has ended with an exception."""
    KEPT = 20
    """The trace was received; `board` is that of the request, as in `Played`."""
    PLAYED = 21
    """Playback of the trace has ended, completely or with an error."""
    BUSY = 24
    """The subkernel was not loaded: the kernel core is running another one, or this one, which continues. Forwarded
    like `Ready`."""
    START = 22
    """A kernel of the sender requests to load or run this subkernel on `board`."""
    LOST = 23
    """`board`, which runs this subkernel, was lost or is unreachable."""
    MESSAGE = 32
    """Values for a kernel; if the number is that of a subkernel, its arguments or its result."""
