"""Camera Link: Link of a camera in base configuration: 28 bits on four lanes for each period of the pixel clock.

Generated from src/contracts/chips/cameralink.toml by
src/contracts/generate.py: do not edit.
"""

__all__ = [
    "WORD_BITS",
    "LINE_VALID",
    "FRAME_VALID",
    "DATA_VALID",
    "LANES",
    "PORTS",
]

WORD_BITS = 28
"""Bits of a word: inputs of the serialiser."""

LINE_VALID = 24
"""Input that has LVAL."""

FRAME_VALID = 25
"""Input that has FVAL."""

DATA_VALID = 26
"""Input that has DVAL."""

LANES = [
    [7, 6, 4, 3, 2, 1, 0],
    [18, 15, 14, 13, 12, 9, 8],
    [26, 25, 24, 22, 21, 20, 19],
    [23, 17, 16, 11, 10, 5, 27],
]
"""Inputs of the serialiser that follow each other on each lane."""

PORTS = [
    [0, 1, 2, 3, 4, 6, 27, 5],
    [7, 8, 9, 12, 13, 14, 10, 11],
]
"""Inputs that have a pixel's bits, lowest first: those of port A, of port B."""
