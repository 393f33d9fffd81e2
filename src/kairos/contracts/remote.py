"""Memory and blocks of other boards: descriptors of copies, rights, registers of bridges, addresses of their blocks.

Generated from src/contracts/remote.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = [
    "FETCH_DESTINATION",
    "COPY_DESCRIPTORS",
    "COPY_DESCRIPTOR_BYTES",
    "COPY_NOTIFY_AT",
    "COPY_FETCH_AT",
    "COPY_DESTINATION_AT",
    "COPY_OTHER_AT",
    "PAGE_BYTES",
    "PAGES",
    "PAGE_AT",
    "ADDER_NUMBERS",
    "ADDER_IDENTITY",
    "ADDER_AREA_BYTES",
    "BridgeRegister",
    "AdderRegister",
    "AdderArea",
    "Right",
    "AdderState",
]

FETCH_DESTINATION = 0x8000_0000
"""Calls: added to the destination of a copy that goes from there to here."""

COPY_DESCRIPTORS = 64
"""Copies: descriptors of a ring, which begins at a multiple of its size."""

COPY_DESCRIPTOR_BYTES = 16
"""Copies: size of a descriptor: address here, bytes, address there, flags, u32 each."""

COPY_NOTIFY_AT = 0
"""Copies: bit of the flags: completion is reported."""

COPY_FETCH_AT = 1
"""Copies: bit of the flags: from there to here."""

COPY_DESTINATION_AT = 8
"""Copies: lowest bit, in the flags, of the number of a board other than the neighbour."""

COPY_OTHER_AT = 11
"""Copies: bit of the flags: for the board with this number, not for the neighbour."""

PAGE_BYTES = 4096
"""Block `pages`: size of a page."""

PAGES = 256
"""Block `pages`: pages of its range."""

PAGE_AT = 2
"""Block `pages`: lowest bit, in an entry, of the number of a page of the range; below it are the rights."""

ADDER_NUMBERS = 1024
"""Block `adder`: most numbers of a vector."""

ADDER_IDENTITY = 0x5644_4441
"""Block `adder`: value of its first register."""

ADDER_AREA_BYTES = 4096
"""Block `adder`: size of its registers, of each vector, and of the sums, which follow one another."""


class BridgeRegister(IntEnum):
    """Register of this board's end of a bridge in a kernel's call; those from `raises` on can be written."""

    LEVELS = 0
    """Interrupts that the other board shows."""
    STATE = 1
    """State of the bridge."""
    LATENCY = 2
    """Cycles of the latest access."""
    RAISES = 3
    """Interrupts shown at the other board."""
    RESET = 4
    """Reset of the bridge and of its block."""
    ENTRY = 5
    """Entry of a shared page."""


class AdderRegister(IntEnum):
    """Block `adder`: addresses of its registers."""

    IDENTITY = 0
    """Read: `ADDER_IDENTITY`."""
    COUNT = 4
    """Numbers to add."""
    STATE = 8
    """Read: an `AdderState`."""
    BEGIN = 12
    """Write: begin; `done` is cleared."""


class AdderArea(IntEnum):
    """Block `adder`: what its addresses hold, in units of `ADDER_AREA_BYTES`."""

    REGISTERS = 0
    """The registers."""
    FIRST = 1
    """The first vector."""
    SECOND = 2
    """The second vector."""
    SUMS = 3
    """The sums, read only."""


class Right(IntEnum):
    """What another board may do with exported memory, or with a shared page; 0: nothing."""

    READ = 1
    """Read it."""
    WRITE = 2
    """Write it, together with `read`."""


class AdderState(IntEnum):
    """Block `adder`: bits of its state."""

    BUSY = 1
    """It adds."""
    DONE = 2
    """The sums are there."""
