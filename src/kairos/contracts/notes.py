"""Notes of the kernel core for an emulator: options of the hint instruction `dbg`.

Generated from src/contracts/notes.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = ["TraceNote"]


class TraceNote(IntEnum):
    """Notes on DMA traces."""

    WRITTEN = 1
    """An event was written to the address in r0: copied from the address in r1, or recorded if r1 is 0."""
    ELSEWHERE = 2
    """The part at the address in r0 will be played by another board, starting at the time in r2 (lower half) and r3."""
