"""Novogorny: Card with eight ADC channels of 16 bits (LTC2335-16), each behind an amplifier (AD8253).

Generated from src/contracts/chips/novogorny.toml by
src/contracts/generate.py: do not edit.
"""

__all__ = [
    "CS_ADC",
    "CS_PGIA",
    "CHANNELS",
    "SEQUENCE",
    "SPANS",
    "ADC_CONTROL",
    "RESULT",
]

CS_ADC = 1
"""Chip select of the ADC."""

CS_PGIA = 2
"""Chip select of the amplifiers."""

CHANNELS = 8
"""Channels of the card."""

SEQUENCE = 16
"""Maximum number of control words stored by the ADC."""

SPANS = [
    [1.220703125, 0],
    [1.25, 0],
    [2.44140625, 1],
    [2.5, 1],
    [2.44140625, 0],
    [2.5, 0],
    [4.8828125, 1],
    [5.0, 1],
]
"""Ranges by number: span in units of the reference, and whether the range is bipolar."""

ADC_CONTROL = [
    ("softspan", 3),
    ("channel", 3),
    ("reserved_6", 1),
    ("valid", 1),
]
"""Control word: next conversion of the ADC."""

RESULT = [
    ("softspan", 3),
    ("channel", 3),
    ("reserved_6", 2),
    ("code", 16),
]
"""A transfer from the ADC."""
