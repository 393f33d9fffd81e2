"""Between the firmware of two boards: numbers of the messages (`docs/gateware/link-messages.md`).

Generated from src/contracts/link.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = [
    "VERSION",
    "PACKET_MAX",
    "DESTINATION_MASTER",
    "ORDER_HEAD",
    "WINDOW",
    "PLAYED_NOT",
    "TEXT_MAX",
    "Message",
    "Service",
    "Order",
]

VERSION = 3
"""Version of the protocol."""

PACKET_MAX = 1024
"""Longest packet in bytes, head and CRC included: what the mailbox takes."""

DESTINATION_MASTER = 0
"""Destination of the board with the network."""

ORDER_HEAD = 12
"""Bytes of the head of an order."""

WINDOW = 4096
"""Bytes of a stream that an end has room for."""

PLAYED_NOT = 256
"""In place of an error of the DMA: there is no such trace, or something else is played."""

TEXT_MAX = 64
"""Longest text of a hello or a refusal, and longest payload of a ping, in bytes."""


class Message(IntEnum):
    """Messages. Numbers are little endian; a stream is named by one byte, which the end nearer to the master
    chooses."""

    HELLO = 1
    """Who I am; the first message of a satellite."""
    WELCOME = 2
    """Answer to a hello: what you are called."""
    DESCRIBE = 3
    """Send your descriptor from here on."""
    DESCRIPTION = 4
    """A piece of the gateware's descriptor."""
    PING = 5
    """Send this back."""
    PONG = 6
    """What a ping had."""
    OPEN = 8
    """Begin a stream of bytes to a board: the receiver or one behind it, to which it is passed on."""
    REFUSE = 9
    """There is no such board or service, or no room."""
    DATA = 10
    """Bytes of a stream: no more than the other end has said it has room for, and at the beginning `WINDOW`."""
    CREDIT = 11
    """There is room for so many more bytes."""
    CLOSE = 12
    """No more bytes come. A stream ends when both have said so."""


class Service(IntEnum):
    """What a stream is for."""

    MANAGEMENT = 1
    """Requests of management, as on TCP 1380 behind the destination (wire protocols, section 2)."""
    KERNELS = 2
    """Kernels of the satellite's kernel core, in messages of their own (`Order`); one client at a time."""
    ANALYZER = 3
    """What the satellite's analyzer has recorded of its own channels, as on TCP 1382; its record begins anew."""
    MONITOR = 4
    """Requests of the monitor and injector, as on TCP 1383 behind the greeting; each is answered by a report, once."""


class Order(IntEnum):
    """What goes over a stream to the service of kernels: head (kind u8, board u8, two bytes 0, number u32, bytes of the
    payload u32) and payload. `number` is a subkernel's or a message's, `board` whom a message is for (from the
    satellite) or from (to it)."""

    KEEP = 1
    """Keep this library, in place of one with this number."""
    LOAD = 2
    """Load it."""
    RUN = 3
    """Run it, after loading it if it is not loaded."""
    TRACE = 5
    """Keep this DMA trace, in place of one with this number; `board` names the receiver."""
    PLAY = 6
    """Play the trace of this number; `board` names the receiver."""
    FORGET = 7
    """Forget the trace of this number."""
    STOP = 4
    """End what runs, and what is played."""
    READY = 16
    """It has been loaded, and runs if that was wanted. This and the next three are passed on to the satellite whose
    kernel has started it."""
    REFUSED = 17
    """It has not."""
    FINISHED = 18
    """It has returned."""
    EXCEPTION = 19
    """It has ended with an exception."""
    KEPT = 20
    """The trace has come; `board` is that of the order, as in the next one."""
    PLAYED = 21
    """The trace has been played, as far as it could be."""
    BUSY = 24
    """It is not loaded: the kernel core runs another one, or this one, which goes on. Passed on as `ready` is."""
    START = 22
    """A kernel of the sender wants this subkernel of `board` to be loaded or run."""
    LOST = 23
    """`board`, which had this subkernel, is lost, or cannot be reached."""
    MESSAGE = 32
    """Values for a kernel: by the number of a subkernel its arguments or its result."""
