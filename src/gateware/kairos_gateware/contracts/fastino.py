"""Fastino: Card with 32 DAC channels of 16 bits. Addresses 0 to 31 are the DACs, an address of a group its first DAC.

Generated from src/contracts/chips/fastino.toml by
src/contracts/generate.py: do not edit.
"""

__all__ = [
    "LANES",
    "CRC",
    "CLOCK_PATTERN",
    "FRAME_WORDS",
    "FRAME_WORD_BITS",
    "BITS_PER_CYCLE",
    "READ",
    "ANSWERS",
    "DAC_ADDRESS",
    "UPDATE_ADDRESS",
    "HOLD_ADDRESS",
    "CFG_ADDRESS",
    "LEDS_ADDRESS",
    "RESERVED_ADDRESS",
    "CONTINUOUS_ADDRESS",
    "CIC_ADDRESS",
    "CIC_APPLY_ADDRESS",
    "FRAME",
    "FRAME_KIND_CODES",
    "FRAME_KIND_INTERPOLATOR",
]

LANES = 6
"""Data lanes of the link."""

CRC = 0x180F
"""Polynomial of a frame's CRC."""

CLOCK_PATTERN = 99
"""Levels of the clock lane in a word, the first one highest."""

FRAME_WORDS = 14
"""Words of a frame on the link."""

FRAME_WORD_BITS = 7
"""Bits of such a word."""

BITS_PER_CYCLE = 2
"""Bits of the link in a coarse cycle."""

READ = 128
"""Bit of an RTIO address: its low bits are the number of an answer register, which comes as an input event."""

ANSWERS = 16
"""Answer registers of the card."""

DAC_ADDRESS = 0x00
"""Code of a DAC."""

UPDATE_ADDRESS = 0x20
"""DACs that the next frame updates, instead of those written before."""

HOLD_ADDRESS = 0x21
"""DACs whose codes wait for an update."""

CFG_ADDRESS = 0x22
"""Configuration."""

LEDS_ADDRESS = 0x23
"""LEDs."""

RESERVED_ADDRESS = 0x24
"""Reserved bits of each frame."""

CONTINUOUS_ADDRESS = 0x25
"""DACs that are updated with every frame."""

CIC_ADDRESS = 0x26
"""Setting of an interpolator, to be applied."""

CIC_APPLY_ADDRESS = 0x27
"""Interpolators that take over the setting with the next frame, which updates no DAC."""

FRAME = [
    ("configuration", 4),
    ("leds", 8),
    ("kind", 1),
    ("reserved", 7),
    ("answer", 4),
    ("mask", 32),
]
"""Header of a frame's payload on the link, before the 32 codes, lowest bit first."""

FRAME_KIND_CODES = 0
"""Of its field kind."""

FRAME_KIND_INTERPOLATOR = 1
"""Of its field kind."""
