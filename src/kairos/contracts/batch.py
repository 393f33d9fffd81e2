"""Batches of register accesses, which the comms core runs beside a kernel: instructions, bounds, outcomes.

Generated from src/contracts/batch.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = [
    "INSTRUCTION",
    "INSTRUCTIONS_MAX",
    "STEPS_MAX",
    "RESULTS_MAX",
    "TIME_MAX",
    "DEPTH_MAX",
    "REPLY",
    "Operation",
    "Outcome",
]

INSTRUCTION = 20
"""Bytes of an instruction: number of the operation u8, three bytes 0, operands a, b, c, d as u32."""

INSTRUCTIONS_MAX = 4096
"""Instructions in a batch."""

STEPS_MAX = 100000
"""Instructions that a batch executes at most: those in a loop count for each round."""

RESULTS_MAX = 16384
"""Words that a batch gives back at most."""

TIME_MAX = 5000000
"""Longest sum of its delays and timeouts in microseconds."""

DEPTH_MAX = 4
"""Loops within loops."""

REPLY = 12
"""Bytes of a reply in front of the results: outcome u8, three bytes 0, number of the instruction that it ended at u32,
instructions that were executed u32."""


class Operation(IntEnum):
    """What an instruction does."""

    READ = 1
    """Read a register."""
    WRITE = 2
    """Write a register: b, and in a loop c more each round of the innermost one, modulo 2^32."""
    MODIFY = 3
    """Write b to those bits of a register that are set in the mask, leave the others."""
    POLL = 4
    """Read a register until the bits of the mask are as in b; the batch ends if they are not in time."""
    DELAY = 5
    """Wait."""
    LOOP = 6
    """Repeat the instructions that follow."""


class Outcome(IntEnum):
    """How a batch ended. Nothing of one that is not `done` or `timeout` was executed."""

    DONE = 0
    """All was executed."""
    MALFORMED = 1
    """An instruction that does not exist, operands that it does not have, or a loop that ends outside of the one around
    it."""
    NOT_EXPORTED = 2
    """No register that the gateware exports."""
    NOT_PERMITTED = 3
    """A register that cannot be read or written, or that is the firmware's own."""
    TOO_LONG = 4
    """More instructions, steps, results or time than a batch may have."""
    TIMEOUT = 5
    """A poll did not find what it waits for; what came before it was executed."""
    NO_GATEWARE = 6
    """There is no gateware."""
