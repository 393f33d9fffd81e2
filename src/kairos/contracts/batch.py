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
    "I2C_WRITTEN_MAX",
    "I2C_READ_MAX",
    "I2C_BYTE",
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

I2C_WRITTEN_MAX = 8
"""Bytes that a transaction of I2C writes at most, behind the address."""

I2C_READ_MAX = 64
"""Bytes that a transaction of I2C reads at most."""

I2C_BYTE = 100
"""Microseconds that a byte on the I2C bus counts, where times are added up; addresses and switches are bytes too."""

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
    I2C = 7
    """A transaction on the board's I2C bus: writes bytes to a device, then reads some from it; neither: only asks
    whether it is there. A switch, if one is named, is set to the mask before, and back to what it was after."""
    PROBE = 8
    """Read a probe of an RTIO channel, as the monitor does."""
    OVERRIDE = 9
    """Set an override of an RTIO channel, as the injector does."""
    SETTLE = 10
    """As `poll`, with nothing for a result."""


class Outcome(IntEnum):
    """How a batch ended. Of one that ended by 1 to 4 or 6 nothing was executed, of others what stands before the
    instruction."""

    DONE = 0
    """All was executed."""
    MALFORMED = 1
    """An instruction that does not exist, operands that it does not have, or a loop that ends outside of the one around
    it."""
    NOT_EXPORTED = 2
    """No register that the gateware exports, or no channel of this board."""
    NOT_PERMITTED = 3
    """A register that cannot be read or written, or that is the firmware's own."""
    TOO_LONG = 4
    """More instructions, steps, results or time than a batch may have."""
    TIMEOUT = 5
    """A poll did not find what it waits for."""
    NO_GATEWARE = 6
    """There is no gateware."""
    NOT_ACKNOWLEDGED = 7
    """No device on the I2C bus has acknowledged its address, or the device not a byte."""
    BUS_STUCK = 8
    """A line of the I2C bus is held low."""
    BUS_BUSY = 9
    """The kernel has not ended its transaction on the I2C bus in time."""
