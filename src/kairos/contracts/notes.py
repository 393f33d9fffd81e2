"""Notes of the kernel core for an emulator, which knows who has called: options of the hint `dbg`.

Generated from src/contracts/notes.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = ["TraceNote"]


class TraceNote(IntEnum):
    """Notes on DMA traces."""

    WRITTEN = 1
    """An event stands at the address in r0: copied from that in r1, or recorded if that is 0."""
    ELSEWHERE = 2
    """Another board is to play the part at the address in r0, from the time in r2 (lower half) and r3 on."""
