"""8B/10B: Transmission code: characters of 8 bits (y in the upper three, x in the lower five) as 10 bits.

Generated from src/contracts/chips/code8b10b.toml by
src/contracts/generate.py: do not edit.
"""

__all__ = [
    "CODE_BITS",
    "CONTROL_SIX",
    "ALTERNATIVE",
    "SIX",
    "FOUR",
    "ALTERNATIVES",
]

CODE_BITS = 10
"""Bits of a code: a in bit 0, i in bit 5, f in bit 6, j in bit 9."""

CONTROL_SIX = 60
"""Abcdei of the control characters K28, after more zeros than ones."""

ALTERNATIVE = 14
"""Fghj of y = 7 where the other code would make five equal bits, after more zeros than ones."""

SIX = [
    [57, 46, 45, 35, 43, 37, 38, 7],
    [39, 41, 42, 11, 44, 13, 14, 58],
    [54, 49, 50, 19, 52, 21, 22, 23],
    [51, 25, 26, 27, 28, 29, 30, 53],
]
"""Abcdei of x = 0 to 31, eight in a row, after more zeros than ones."""

FOUR = [
    [13, 9, 10, 3, 11, 5, 6, 7],
    [13, 6, 5, 3, 11, 10, 9, 14],
]
"""Fghj of y = 0 to 7, of characters and of control characters, after more zeros than ones."""

ALTERNATIVES = [
    [17, 18, 20],
    [11, 13, 14],
]
"""X of the characters with y = 7 that have the alternative code, after more zeros and after more ones."""
