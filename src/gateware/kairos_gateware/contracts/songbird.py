"""Songbird: Card with a fast DAC (LTC2000), which plays tones: of each a cubic spline for its amplitude and a chirp.

Generated from src/contracts/chips/songbird.toml by
src/contracts/generate.py: do not edit.
"""

__all__ = [
    "TONES",
    "TONES_MAX",
    "LEVEL_BITS",
    "PHASE_BITS",
    "FTW_BITS",
    "SAMPLES",
    "SHIFT_MAX",
    "AMPLITUDE_SPAN",
    "TRIGGER_AMPLITUDE",
    "TRIGGER_PHASE",
    "DAC_RESET",
    "DAC_CLOCK",
    "DAC_DATA_CLOCK",
    "DAC_PRESENT",
    "DAC_OUTPUT",
    "DAC_OUTPUT_ON",
    "PHASE_WORDS",
    "SETTINGS",
    "MESSAGE",
    "RATE_WORD",
]

TONES = 4
"""Tones of a card, unless its gateware was built with another number."""

TONES_MAX = 16
"""Greatest number of tones."""

LEVEL_BITS = 16
"""Bits of an amplitude and of a sample, two's complement."""

PHASE_BITS = 18
"""Bits of a phase."""

FTW_BITS = 32
"""Bits of a frequency word; all of them: the sampling rate."""

SAMPLES = 20
"""Samples in a cycle of the RTIO clock."""

SHIFT_MAX = 15
"""Greatest shift of a tone's rate of updates."""

AMPLITUDE_SPAN = 2.0
"""Range of an amplitude, V."""

TRIGGER_AMPLITUDE = 0
"""Address of the trigger for amplitudes."""

TRIGGER_PHASE = 1
"""Address of the trigger for phases."""

DAC_RESET = 1
"""Register of the DAC whose lowest bit resets it, and then reads as 0."""

DAC_CLOCK = 2
"""Register of the DAC that shows `DAC_PRESENT` if the sampling clock runs."""

DAC_DATA_CLOCK = 3
"""Register of the DAC that shows `DAC_PRESENT` if the clock of the data runs."""

DAC_PRESENT = 2
"""Bit of these registers."""

DAC_OUTPUT = 4
"""Register of the DAC that has the value `DAC_OUTPUT_ON` when it puts out data."""

DAC_OUTPUT_ON = 11
"""Value of `DAC_OUTPUT` at the end of `init`."""

PHASE_WORDS = [
    [1, 16],
    [2, 32],
    [2, 32],
    [1, 16],
]
"""Events for the phase: its upper bits, the frequency word, its change, and `RATE_WORD`."""

SETTINGS = [
    [1, 1, 10000],
    [2, 0, 0],
    [3, 1, 0],
    [4, 3, 1000],
    [4, 11, 0],
    [5, 0, 0],
    [7, 0, 0],
    [8, 8, 0],
    [24, 0, 0],
    [25, 0, 0],
    [30, 0, 0],
    [30, 0, 0],
]
"""Registers of the DAC that `init` writes, in order, with the time that it waits after each."""

MESSAGE = [
    ("value", 8),
    ("register", 7),
    ("read", 1),
]
"""DAC: a message on its SPI bus."""

RATE_WORD = [
    ("shift", 4),
    ("low", 2),
]
"""Last word of a phase."""
