"""Fastino: Card with 32 DAC channels of 16 bits. Addresses 0 to 31 are the DACs, an address of a group its first DAC.

Generated from src/contracts/chips/fastino.toml by
src/contracts/generate.py: do not edit.
"""

__all__ = [
    "LANES",
    "CRC",
    "CLOCK_HIGH",
    "FRAME_WORDS",
    "FRAME_WORD_BITS",
    "BITS_PER_CYCLE",
    "DAC_ADDRESS",
    "UPDATE_ADDRESS",
    "HOLD_ADDRESS",
    "CFG_ADDRESS",
    "LEDS_ADDRESS",
    "CONTINUOUS_ADDRESS",
    "CIC_ADDRESS",
    "CIC_APPLY_ADDRESS",
    "FRAME",
    "FRAME_KIND_UPDATE",
    "FRAME_KIND_INTERPOLATOR",
]

LANES = 6
"""Data lanes of the link."""

CRC = 0x180F
"""Polynomial of a frame's CRC."""

CLOCK_HIGH = 4
"""Number of bits in a word with the clock lane high; one less in the first word of a frame."""

FRAME_WORDS = 14
"""Words of a frame on the link."""

FRAME_WORD_BITS = 7
"""Bits of such a word."""

BITS_PER_CYCLE = 2
"""Bits of the link in a coarse cycle."""

DAC_ADDRESS = 0x00
"""Code of a DAC."""

UPDATE_ADDRESS = 0x20
"""Output held codes."""

HOLD_ADDRESS = 0x21
"""DACs whose codes wait for an update."""

CFG_ADDRESS = 0x22
"""Configuration."""

LEDS_ADDRESS = 0x23
"""LEDs."""

CONTINUOUS_ADDRESS = 0x25
"""DACs that are updated with every frame."""

CIC_ADDRESS = 0x26
"""Setting of an interpolator, to be applied."""

CIC_APPLY_ADDRESS = 0x27
"""Interpolators that take over the setting."""

FRAME = [
    ("configuration", 4),
    ("leds", 8),
    ("kind", 4),
    ("interpolator", 16),
    ("mask", 32),
]
"""Header of a frame on the link, before the codes, lowest bit first; the codes are followed by the CRC."""

FRAME_KIND_UPDATE = 0
"""Of its field kind."""

FRAME_KIND_INTERPOLATOR = 1
"""Of its field kind."""
