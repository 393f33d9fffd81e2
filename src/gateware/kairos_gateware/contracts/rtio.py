"""RTIO: status of outputs and inputs, formats of DMA traces, errors of a playback.

Generated from src/contracts/rtio.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = [
    "OUTPUT_UNDERFLOW",
    "OUTPUT_UNREACHABLE",
    "INPUT_TIMEOUT",
    "INPUT_OVERFLOW",
    "INPUT_UNREACHABLE",
    "BOARDS",
    "DMA_ALIGNMENT",
    "DMA_SHORT_DATA_BITS",
    "DMA_MAX_WORDS",
    "DmaFormat",
    "TraceWord",
]

OUTPUT_UNDERFLOW = 2
"""Status of an output: underflow, its time has passed."""

OUTPUT_UNREACHABLE = 4
"""Status of an output: there is no such channel."""

INPUT_TIMEOUT = 1
"""Status of an input: timeout."""

INPUT_OVERFLOW = 2
"""Status of an input: overflow, events were lost."""

INPUT_UNREACHABLE = 8
"""Status of an input: there is no such channel."""

BOARDS = 8
"""Maximum number of boards in a tree; a board thus has up to seven links."""

DMA_ALIGNMENT = 128
"""Alignment of DMA traces in bytes."""

DMA_SHORT_DATA_BITS = 6
"""Compact traces: bits of data of a short event."""

DMA_MAX_WORDS = 16
"""Data words of the longest event of a trace."""


class DmaFormat(IntEnum):
    """Value of the register `dma_format`."""

    RECORDED = 0
    """Concatenated records of `rtio_output` calls."""
    COMPACT = 1
    """64-bit words with time differences."""


class TraceWord(IntEnum):
    """Compact traces: kind in bits 1..0 of a word."""

    END = 0
    """End of the trace."""
    SHORT = 1
    """An event with one data word of at most DMA_SHORT_DATA_BITS bits."""
    LONG = 2
    """Any other event."""
    TIME = 3
    """A time difference that does not fit into an event."""
