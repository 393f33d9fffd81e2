"""Phaser as a satellite: A Phaser whose gateware adds up tones for each RF channel; its chips are on SPI buses.

Generated from src/contracts/chips/phaser_mtdds.toml by
src/contracts/generate.py: do not edit.
"""

__all__ = [
    "GATEWARE",
    "HARDWARE",
    "VARIANT",
    "SAMPLES",
    "TONES",
    "DAC_PINS",
    "ALARM",
    "SOURCES",
    "TEST_WORDS",
    "ATTENUATORS",
    "SAVES",
    "LOCKED",
    "FREQUENCY",
    "PHASE",
    "AMPLITUDE",
    "CLEAR",
    "CONTROL_BITS",
    "USUAL_TONES",
    "MOST_TONES",
    "LEAST_SAMPLES",
    "FTW_BITS",
    "POW_BITS",
    "SOURCE_TEST",
    "SOURCE_TONES",
    "PORT",
    "PINS",
    "SOURCE",
    "ASF",
]

GATEWARE = 1
"""Number of this gateware."""

HARDWARE = 0
"""Address of the kind of card: 0 with upconverters, 1 without."""

VARIANT = 1
"""Address of the number of the gateware."""

SAMPLES = 2
"""Address of the number of samples in a coarse cycle."""

TONES = 3
"""Address of the number of tones of an RF channel."""

DAC_PINS = 4
"""Address of the pins of the DAC."""

ALARM = 5
"""Address of the alarm of the DAC."""

SOURCES = 6
"""Address of the sources of the DAC's samples."""

TEST_WORDS = 7
"""First address of the four words of a test, I and Q of RF channel 0, then of 1."""

ATTENUATORS = 11
"""Address of the resets of the attenuators, a bit for each RF channel, 0 in reset."""

SAVES = 12
"""Address of whether the upconverters save power, a bit for each RF channel."""

LOCKED = 13
"""Address of whether the upconverters have locked, a bit for each RF channel."""

FREQUENCY = 0
"""Address of a tone's frequency word."""

PHASE = 1
"""Address of a tone's phase word."""

AMPLITUDE = 2
"""Address of a tone's amplitude word."""

CLEAR = 3
"""Address of whether a tone's phase accumulator is held at 0."""

CONTROL_BITS = 16
"""Bits of a control, and of a sample."""

USUAL_TONES = 26
"""Tones of an RF channel, unless its gateware was built with another number."""

MOST_TONES = 32
"""Greatest number of tones of an RF channel."""

LEAST_SAMPLES = 2
"""Samples in a cycle of 8 ns, for a bandwidth of 250 MHz; twice as many for 500 MHz."""

FTW_BITS = 32
"""Bits of a frequency word; all of them: the bandwidth."""

POW_BITS = 16
"""Bits of a phase word; all of them: a turn."""

SOURCE_TEST = 0
"""Source of the DAC: the test words."""

SOURCE_TONES = 1
"""Source of the DAC: the tones."""

PORT = [
    ("control", 4),
    ("read", 1),
]
"""RTIO address of the controls."""

PINS = [
    ("txena", 1),
    ("resetb", 1),
    ("sleep", 1),
]
"""Pins of the DAC."""

SOURCE = [
    ("source", 4),
]
"""Sources of the DAC's samples."""

ASF = [
    ("asf", 15),
]
"""Amplitude of a tone."""
