"""Measurement of the paths between processors, memory and logic.

Generated from src/contracts/paths.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = [
    "TRIALS_MAX",
    "SIZE_MAX",
    "TOTAL_MAX",
    "MESSAGE_MAX",
    "MESSAGE_MIN",
    "STREAM_UNIT",
    "SAMPLE_BYTES",
    "Path",
    "Refusal",
]

TRIALS_MAX = 1000
"""Maximum number of trials in a measurement."""

SIZE_MAX = 1048576
"""Maximum number of bytes moved by a trial."""

TOTAL_MAX = 0x200_0000
"""Maximum number of bytes moved by all trials of a measurement, so that it ends within a second."""

MESSAGE_MAX = 4096
"""Longest measured message in bytes."""

MESSAGE_MIN = 8
"""Shortest measured message in bytes."""

STREAM_UNIT = 8
"""Transfers of the logic are multiples of this size, a beat."""

SAMPLE_BYTES = 12
"""Bytes of a `Sample`."""


class Path(IntEnum):
    """Measured path."""

    REGISTER_WRITE = 1
    """Write to a register of the logic over port GP0, until completion."""
    REGISTER_READ = 2
    """Read of a register over port GP0."""
    REGISTER_HANDSHAKE = 3
    """Write to a register, followed by reads until they return the value written."""
    REQUEST = 4
    """Request to the kernel initiator and its answer: event line, ACP, RTIO core, ACP."""
    STREAM_FROM_MEMORY = 5
    """The logic reads memory through an HP port."""
    STREAM_TO_MEMORY = 6
    """The logic writes memory through an HP port."""
    COHERENT_FROM_MEMORY = 7
    """The logic reads memory through the ACP, coherent with the caches."""
    COHERENT_TO_MEMORY = 8
    """The logic writes memory through the ACP, coherent with the caches."""
    MESSAGE_TO_KERNEL = 9
    """A message from the comms core to the kernel core."""
    MESSAGE_TO_COMMS = 10
    """A message from the kernel core to the comms core."""
    COPY = 11
    """The kernel core copies memory to memory."""
    CLEAN = 12
    """The kernel core cleans its caches to memory, as needed before an HP port reads data that it wrote."""
    LINES_WRITE = 13
    """Write of 32 EMIO lines to the logic, until completion."""
    LINES_READ = 14
    """Read of 32 EMIO lines from the logic."""
    LINES_HANDSHAKE = 15
    """A write of 32 EMIO lines, and reads of those that the logic gives back until they show it."""


class Refusal(IntEnum):
    """Why nothing was measured."""

    ABSENT = 1
    """This gateware cannot do it."""
    BUSY = 2
    """A kernel runs, or may begin to."""
    INVALID = 3
    """No such path, or a size or number of trials that it does not have."""
    FAILED = 4
    """It did not end, or data were not what was sent."""
