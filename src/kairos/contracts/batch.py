"""Batches of register accesses, executed by the comms core alongside a kernel: instructions, limits, outcomes.

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
"""Length of an instruction in bytes: operation u8, three bytes 0, operands a, b, c, d as u32."""

INSTRUCTIONS_MAX = 4096
"""Maximum number of instructions in a batch."""

STEPS_MAX = 100000
"""Maximum number of executed instructions; those in a loop count once per iteration."""

RESULTS_MAX = 16384
"""Maximum number of result words of a batch."""

TIME_MAX = 5000000
"""Maximum sum of its delays and timeouts in microseconds."""

I2C_WRITTEN_MAX = 8
"""Maximum number of bytes written by an I2C transaction, not counting the address."""

I2C_READ_MAX = 64
"""Maximum number of bytes read by an I2C transaction."""

I2C_BYTE = 100
"""Time in microseconds counted per byte on the I2C bus in the sum of times, including bytes for addresses and
switches."""

DEPTH_MAX = 4
"""Maximum nesting of loops."""

REPLY = 12
"""Length of a reply before the results in bytes: outcome u8, three bytes 0, number of the instruction at which the
batch ended u32, number of instructions executed u32."""


class Operation(IntEnum):
    """Operation of an instruction."""

    READ = 1
    """Read a register."""
    WRITE = 2
    """Write b to a register; in a loop, incremented by c per iteration of the innermost loop, modulo 2^32."""
    MODIFY = 3
    """Write b to the bits of a register selected by the mask; keep the others."""
    POLL = 4
    """Read a register until the bits selected by the mask equal those of b; the batch ends on timeout."""
    DELAY = 5
    """Wait."""
    LOOP = 6
    """Repeat the following instructions."""
    I2C = 7
    """Transaction on the board's I2C bus: write bytes to a device, then read bytes; with neither, only check that it
    acknowledges. If a switch is given, it is set to the mask before and restored afterwards."""
    PROBE = 8
    """Read a probe of an RTIO channel, as the monitor does."""
    OVERRIDE = 9
    """Set an override of an RTIO channel, as the injector does."""
    WAIT = 10
    """As `poll`, without a result."""


class Outcome(IntEnum):
    """How a batch ended. With 1 to 4 or 6 nothing was executed, with 10 everything, otherwise everything before the
    instruction at which it ended."""

    DONE = 0
    """All instructions were executed."""
    MALFORMED = 1
    """Unknown instruction, invalid operands, or a loop that extends beyond the enclosing one."""
    NOT_EXPORTED = 2
    """Not a register exported by the gateware, or not a channel of this board."""
    NOT_PERMITTED = 3
    """The register cannot be read or written, or is reserved for the firmware."""
    TOO_LONG = 4
    """Too many instructions, steps or results, or too much time."""
    TIMEOUT = 5
    """A poll timed out."""
    NO_GATEWARE = 6
    """No gateware is loaded."""
    NOT_ACKNOWLEDGED = 7
    """An address or a byte was not acknowledged on the I2C bus."""
    BUS_STUCK = 8
    """A line of the I2C bus is held low."""
    BUS_BUSY = 9
    """The kernel did not end its transaction on the I2C bus in time."""
    STORE_FAILED = 10
    """All instructions were executed, but a store in another board's memory has failed after its early acknowledgement;
    `remote_late_address` says where."""
