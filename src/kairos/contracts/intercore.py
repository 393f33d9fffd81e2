"""Inter-core memory: its messages and states (`docs/interfaces.md`, section 2).

Generated from src/contracts/intercore.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = [
    "CAPACITY",
    "FRAME_MAX",
    "HEADER",
    "FLAG_MORE",
    "REASON_MAX",
    "AWAITS_BOARDS",
    "AWAITING",
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
"""Length of a frame's header in bytes: kind u8, flags u8, reserved u16, length u32."""

FLAG_MORE = 1
"""Flag of a frame: the message continues in the next one."""

REASON_MAX = 512
"""Longest reason of a fault of the kernel core, in bytes."""

AWAITS_BOARDS = 224
"""Offset in the inter-core memory of the word that is `AWAITING` while the kernel core waits for other boards."""

AWAITING = 0x7761_6974
"""The kernel core waits for other boards, by way of the comms core, and for nothing that the host does. Otherwise 0."""

SGI_RESTART = 0
"""Software-generated interrupt to the kernel core: restart."""

SGI_DATA = 1
"""Software-generated interrupt to either core: a ring contains data."""


class Kind(IntEnum):
    """Type of a message."""

    LOAD = 1
    """Load a kernel library."""
    RUN = 2
    """Run the loaded kernel."""
    RPC_REPLY = 3
    """The host's reply."""
    RPC_EXCEPTION = 4
    """The host function raised an exception."""
    MEASURE = 5
    """Measure a path (`paths.toml`)."""
    ECHO = 6
    """Echo request."""
    SUBKERNEL_ANSWER = 7
    """Response to a subkernel request."""
    SET_CURSOR = 8
    """Time cursor at the start of the next kernel."""
    LOAD_COMPLETED = 16
    """The library is ready to run."""
    LOAD_FAILED = 17
    """The library cannot be run."""
    RPC_SYNC = 18
    """The kernel calls the host and waits for the reply."""
    RPC_ASYNC = 19
    """The kernel calls the host without waiting for a reply."""
    RPC_DONE = 20
    """The reply has been read; also after `RpcException`."""
    FINISHED = 21
    """The kernel has returned."""
    EXCEPTION = 22
    """The kernel has ended with an exception."""
    MEASURED = 24
    """Response to `Measure`."""
    ECHOED = 25
    """Response to `Echo`."""
    LOG = 23
    """A line for the log."""
    SUBKERNEL_RUN = 26
    """Load and run a subkernel."""
    SUBKERNEL_AWAIT = 27
    """Wait until a subkernel has ended."""
    SUBKERNEL_SEND = 28
    """Send values to another board."""
    SUBKERNEL_RECEIVE = 29
    """Wait for values from another board."""
    TRACE_KEEP = 30
    """Distribute the parts of a DMA trace to other boards."""
    TRACE_PLAY = 31
    """Play the parts on other boards; answered when all have finished."""
    TRACE_ERASE = 32
    """Delete the parts on other boards; not answered."""


class Outcome(IntEnum):
    """Outcome of a subkernel request."""

    DONE = 0
    """Success."""
    MESSAGE = 1
    """Values were received."""
    EXCEPTION = 2
    """The subkernel has ended with an exception."""
    NOT_LOADED = 3
    """The subkernel does not exist, or its board refused it."""
    NOT_RUNNING = 4
    """The subkernel has not been started."""
    TIMED_OUT = 5
    """Timeout."""
    LOST = 6
    """The board does not answer, or has restarted."""
    TOO_MUCH = 7
    """Not enough memory for the message or trace."""
    PLAYED = 8
    """Playback of the parts of a trace has ended, completely or with an error."""


class State(IntEnum):
    """State last reported by the kernel core, bits 7..0 of the state word; bits 31..8: number of the restart to which
    it belongs."""

    SILENT = 0
    """No report since power-up."""
    RESTARTED = 1
    """In the restart handshake, waiting to be granted the rings."""
    RUNNING = 2
    """Serving messages."""
    FAULTED = 3
    """Hit an abort or panic; needs a restart."""
