"""SU-Servo: addresses of its memories, words of a profile, configuration, and the word of a channel.

Generated from src/contracts/servo.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = [
    "ADC_CHANNELS",
    "ADC_WIDTH",
    "URUKUL_CHANNELS",
    "COEFF_WIDTH",
    "COEFF_SHIFT",
    "PROFILE_WIDTH",
    "DELAY_WIDTH",
    "T_CYCLE",
    "ADDRESS_BITS",
    "WORD_BITS",
    "DEPTH_LEAST",
    "WRITE_AT",
    "PHASE_AT",
    "STATE_AT",
    "SAMPLES_BITS",
    "DELAYS_AT",
    "DELAYS_BITS",
    "CHANNEL_PROFILE_AT",
    "Word",
    "Configuration",
    "Control",
]

ADC_CHANNELS = 8
"""Channels of the ADC."""

ADC_WIDTH = 16
"""Bits of a sample, signed."""

URUKUL_CHANNELS = 4
"""Synthesisers of an Urukul."""

COEFF_WIDTH = 18
"""Bits of a value or of a signed coefficient."""

COEFF_SHIFT = 11
"""Fractional bits of coefficients: 2^COEFF_SHIFT represents 1."""

PROFILE_WIDTH = 5
"""Bits of a profile's number."""

DELAY_WIDTH = 8
"""Bits of the delay before updates of Y, in samples."""

T_CYCLE = 146
"""Coarse cycles from one sample to the next: the 72 bits of a profile register at half the coarse frequency, and two
cycles."""

ADDRESS_BITS = 8
"""Bits of an address in the event's address; the others are above the value in the data."""

WORD_BITS = 3
"""Bits of a word's number in a profile."""

DEPTH_LEAST = 10
"""DEPTH with one Urukul."""

WRITE_AT = 2
"""Write; without this bit the value is read."""

PHASE_AT = 1
"""Halves of the words of phase tracking; with STATE, both halves of a reference time are set to the servo's time."""

STATE_AT = 0
"""Y of a channel and profile, or with more bits what follows."""

SAMPLES_BITS = 4
"""With STATE, behind the Ys of all channels: bits of a sample's number, bits 3..1 the ADC channel, bit 0 the previous
sample."""

DELAYS_AT = 2
"""Configuration: delay of the first update pulse, ns; the second one's follows."""

DELAYS_BITS = 3
"""Width of such a delay."""

CHANNEL_PROFILE_AT = 3
"""Channel: its profile."""


class Word(IntEnum):
    """Words of a profile."""

    POW = 0
    """Phase word."""
    B1 = 1
    """Coefficient of the previous sample."""
    FTW_LOW = 2
    """Frequency word, bits 15..0."""
    ADC_DLY = 3
    """ADC channel in bits 7..0, delay in bits 15..8."""
    OFFSET = 4
    """Added to the samples, signed."""
    A1 = 5
    """Coefficient of Y."""
    FTW_HIGH = 6
    """Frequency word, bits 31..16."""
    B0 = 7
    """Coefficient of the newest sample."""


class Configuration(IntEnum):
    """Bits of the configuration."""

    ENABLE = 1
    """Take samples continuously."""
    WRITE_DELAY = 2
    """Apply the delays of the update pulses."""


class Control(IntEnum):
    """Bits of a channel's word."""

    OUT = 1
    """RF switch on."""
    IIR = 2
    """Update Y."""
    PHASE_TRACKING = 4
    """Phase tracking."""
