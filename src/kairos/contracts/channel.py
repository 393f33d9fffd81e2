"""Inter-core channel: its messages and states (`docs/interfaces.md`, section 2).

Generated from src/contracts/channel.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = [
    "CAPACITY",
    "FRAME_MAX",
    "HEADER",
    "FLAG_MORE",
    "REASON_MAX",
    "SGI_RESTART",
    "SGI_DATA",
    "Kind",
    "Outcome",
    "State",
]

CAPACITY = 262144
"""Bytes in a ring."""

FRAME_MAX = 16384
"""Longest payload of one frame in bytes; longer messages are split."""

HEADER = 8
"""Bytes of a frame's header: kind u8, flags u8, reserved u16, length u32."""

FLAG_MORE = 1
"""Flag of a frame: the message goes on in the next one."""

REASON_MAX = 512
"""Longest reason of a fault of the kernel core, in bytes."""

SGI_RESTART = 0
"""Software-generated interrupt to the kernel core: restart."""

SGI_DATA = 1
"""Software-generated interrupt to either core: there is something in a ring."""


class Kind(IntEnum):
    """What a message is."""

    LOAD = 1
    """Load a kernel library."""
    RUN = 2
    """Run the loaded kernel."""
    RPC_REPLY = 3
    """The host's reply."""
    RPC_EXCEPTION = 4
    """The host's function has raised an exception."""
    MEASURE = 5
    """Measure a path (`channels.toml`)."""
    ECHO = 6
    """Send back what this has."""
    SUBKERNEL_ANSWER = 7
    """The answer to a request about subkernels."""
    SET_CURSOR = 8
    """Where the time cursor is when the next kernel begins."""
    LOAD_COMPLETED = 16
    """The library can be run."""
    LOAD_FAILED = 17
    """The library cannot be run."""
    RPC_SYNC = 18
    """The kernel calls the host and waits for the reply."""
    RPC_ASYNC = 19
    """The kernel calls the host; nothing comes back."""
    RPC_DONE = 20
    """The reply has been read; also after `RpcException`."""
    FINISHED = 21
    """The kernel has returned."""
    EXCEPTION = 22
    """The kernel has ended with an exception."""
    MEASURED = 24
    """The answer to `Measure`."""
    ECHOED = 25
    """The answer to `Echo`."""
    LOG = 23
    """A line for the log."""
    SUBKERNEL_RUN = 26
    """Load a subkernel, and run it."""
    SUBKERNEL_AWAIT = 27
    """Wait until a subkernel has ended."""
    SUBKERNEL_SEND = 28
    """Send values to another board."""
    SUBKERNEL_RECEIVE = 29
    """Wait for values from another board."""
    TRACE_KEEP = 30
    """See to it that other boards have their parts of a DMA trace."""
    TRACE_PLAY = 31
    """Have other boards play their parts, and answer when all have."""
    TRACE_FORGET = 32
    """Have other boards forget their parts; not answered."""


class Outcome(IntEnum):
    """How a request about subkernels has ended."""

    DONE = 0
    """As wanted."""
    MESSAGE = 1
    """Values have come."""
    EXCEPTION = 2
    """The subkernel has ended with an exception."""
    NOT_LOADED = 3
    """There is no such subkernel, or its board has refused it."""
    NOT_RUNNING = 4
    """It has not been started."""
    TIMED_OUT = 5
    """The time is over."""
    LOST = 6
    """The board does not answer, or has begun anew."""
    TOO_MUCH = 7
    """There is no room for the message, or for the trace."""
    PLAYED = 8
    """The parts of a trace have been played, as far as they could be."""


class State(IntEnum):
    """What the kernel core last said of itself, bits 7..0 of the state word; bits 31..8: the restart that it belongs
    to."""

    SILENT = 0
    """Nothing yet since power-up."""
    RESTARTED = 1
    """In the restart handshake, waiting to be granted the rings."""
    RUNNING = 2
    """Serving messages."""
    FAULTED = 3
    """Hit an abort or panic; needs a restart."""
