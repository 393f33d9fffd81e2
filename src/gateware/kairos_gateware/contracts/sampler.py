"""Sampler: Card with eight ADC channels of 16 bits (LTC2320-16), each behind an amplifier (AD8253).

Generated from src/contracts/chips/sampler.toml by
src/contracts/generate.py: do not edit.
"""

__all__ = [
    "CS_ADC",
    "CS_PGIA",
    "CHANNELS",
    "PGIA",
    "PGIA_GAIN_X1",
    "PGIA_GAIN_X10",
    "PGIA_GAIN_X100",
    "PGIA_GAIN_X1000",
    "PAIR",
]

CS_ADC = 0
"""Chip select of the ADC."""

CS_PGIA = 1
"""Chip select of the amplifiers."""

CHANNELS = 8
"""Channels of the card."""

PGIA = [
    ("gain", 16),
]
"""Settings of the amplifiers, in a shift register."""

PGIA_GAIN_X1 = 0
"""Of its field gain."""

PGIA_GAIN_X10 = 1
"""Of its field gain."""

PGIA_GAIN_X100 = 2
"""Of its field gain."""

PGIA_GAIN_X1000 = 3
"""Of its field gain."""

PAIR = [
    ("even", 16),
    ("odd", 16),
]
"""A transfer from the ADC: the codes of two channels, two's complement."""
