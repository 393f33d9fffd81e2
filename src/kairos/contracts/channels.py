"""Measurement of the paths between processors, memory and logic.

Generated from src/contracts/channels.toml by src/contracts/generate.py: do not edit.
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
"""Trials in one measurement."""

SIZE_MAX = 1048576
"""Bytes that one trial moves, at most."""

TOTAL_MAX = 0x200_0000
"""Bytes that all trials of one measurement move, at most: so it ends within a second."""

MESSAGE_MAX = 4096
"""Longest message that is measured, in bytes."""

MESSAGE_MIN = 8
"""Shortest message that is measured, in bytes."""

STREAM_UNIT = 8
"""Sizes of what the logic reads and writes are multiples of this: a beat."""

SAMPLE_BYTES = 12
"""A sample: time in cycles of the processor, u32; where the logic counts, its cycles to the first beat of a read or to
the first response to a write, and to the last, u32 each; else 0."""


class Path(IntEnum):
    """What is measured."""

    REGISTER_WRITE = 1
    """A write to a register of the logic, port GP0, until it is done."""
    REGISTER_READ = 2
    """A read of a register, port GP0."""
    REGISTER_HANDSHAKE = 3
    """A write to a register, and reads until they give what was written."""
    REQUEST = 4
    """A request to the kernel initiator, and its answer: event line, ACP, RTIO core, ACP."""
    STREAM_FROM_MEMORY = 5
    """The logic reads memory through an HP port."""
    STREAM_TO_MEMORY = 6
    """The logic writes memory through an HP port."""
    COHERENT_FROM_MEMORY = 7
    """The logic reads memory through the ACP, with the caches."""
    COHERENT_TO_MEMORY = 8
    """The logic writes memory through the ACP, with the caches."""
    MESSAGE_TO_KERNEL = 9
    """A message from the comms core to the kernel core."""
    MESSAGE_TO_COMMS = 10
    """A message from the kernel core to the comms core."""
    COPY = 11
    """The kernel core copies memory to memory."""
    CLEAN = 12
    """The kernel core writes its caches back to memory: before an HP port reads what it wrote."""
    LINES_WRITE = 13
    """A write of 32 EMIO lines to the logic, until it is done."""
    LINES_READ = 14
    """A read of 32 EMIO lines from the logic."""
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
