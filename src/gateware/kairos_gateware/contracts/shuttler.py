"""Shuttler: Card with 16 DAC channels: of each a cubic spline for its level, one for an amplitude, and a chirp.

Generated from src/contracts/chips/shuttler.toml by
src/contracts/generate.py: do not edit.
"""

__all__ = [
    "OUTPUTS",
    "LEVEL_BITS",
    "DAC_BITS",
    "FRACTION_BITS",
    "TONE_GAIN",
    "GAIN_STEPS",
    "WORD_BITS",
    "ADC_ID_VALUE",
    "ADC_RESET_BITS",
    "ADC_REFERENCE",
    "ADC_DIVIDER",
    "ADC_SETTLED_RATE",
    "LATENCY",
    "OUTPUT_SPAN",
    "LEVEL_WORDS",
    "TONE_WORDS",
    "PORT",
    "PORT_SETTING_GAIN",
    "PORT_SETTING_OFFSET",
    "PORT_SETTING_CLEAR",
    "COMMUNICATION",
    "ADC_STATUS_ADDRESS",
    "ADC_MODE_ADDRESS",
    "ADC_MODE_MODE_CONTINUOUS",
    "ADC_MODE_MODE_SINGLE",
    "ADC_MODE_MODE_STANDBY",
    "ADC_MODE_MODE_POWER_DOWN",
    "ADC_ID_ADDRESS",
    "ADC_INTERFACE_ADDRESS",
    "ADC_CHANNEL_ADDRESS",
    "ADC_SETUP_ADDRESS",
    "ADC_SETUP_REFERENCE_EXTERNAL",
    "ADC_SETUP_REFERENCE_INTERNAL",
    "ADC_SETUP_REFERENCE_SUPPLY",
    "ADC_FILTER_ADDRESS",
    "ADC_OFFSET_ADDRESS",
    "ADC_GAIN_ADDRESS",
    "ADC_DATA_ADDRESS",
]

OUTPUTS = 16
"""Outputs of a card."""

LEVEL_BITS = 16
"""Bits of a level, two's complement; the DAC gets the upper 14."""

DAC_BITS = 14
"""Bits of a DAC."""

FRACTION_BITS = 32
"""Fraction of the levels and phases that the gateware accumulates."""

TONE_GAIN = 1.6467602581
"""Factor of an amplitude: the gain of a CORDIC, for which drivers compensate."""

GAIN_STEPS = 0x10000
"""An output is multiplied by 1 + gain / GAIN_STEPS."""

WORD_BITS = 16
"""Bits of a coefficient in an event."""

ADC_ID_VALUE = 0x38D0
"""Value of ADC_ID, ignoring the lowest four bits."""

ADC_RESET_BITS = 64
"""Clock cycles with the data high that reset the ADC."""

ADC_REFERENCE = 2.5
"""Internal reference, V."""

ADC_DIVIDER = 0.1
"""In front of each voltage input."""

ADC_SETTLED_RATE = 24845.0
"""Settled conversions a second at the fastest rate."""

LATENCY = 16
"""Cycles of 8 ns from a trigger, or from a setting, to the first sample at the connector."""

OUTPUT_SPAN = 20.0
"""Range of an output, V."""

LEVEL_WORDS = [
    [1, 16, 0],
    [2, 32, 16],
    [3, 48, 32],
    [3, 48, 32],
]
"""Events for coefficients a0 to a3 of the level, the lowest bits first; fraction: bits below a 16-bit step."""

TONE_WORDS = [
    [1, 16, 0],
    [2, 32, 16],
    [3, 48, 32],
    [3, 48, 32],
    [1, 16, 16],
    [2, 32, 32],
    [2, 32, 32],
]
"""Events for b0 to b3 of the amplitude, with fractions as above, and c0 to c2 of the phase: below a turn."""

PORT = [
    ("output", 4),
    ("setting", 2),
    ("read", 1),
]
"""RTIO address of the card's settings; data: 16 bits, two's complement; of CLEAR: a mask of the outputs."""

PORT_SETTING_GAIN = 0
"""Of its field setting."""

PORT_SETTING_OFFSET = 1
"""Of its field setting."""

PORT_SETTING_CLEAR = 2
"""Of its field setting."""

COMMUNICATION = [
    ("register", 6),
    ("read", 1),
]
"""ADC: first byte of a message."""

ADC_STATUS_ADDRESS = 0x00
"""ADC: status."""

ADC_MODE_ADDRESS = 0x01
"""ADC: mode."""

ADC_MODE_MODE_CONTINUOUS = 0
"""Of its field mode."""

ADC_MODE_MODE_SINGLE = 1
"""Of its field mode."""

ADC_MODE_MODE_STANDBY = 2
"""Of its field mode."""

ADC_MODE_MODE_POWER_DOWN = 3
"""Of its field mode."""

ADC_ID_ADDRESS = 0x07
"""ADC: identification; the AD4115 has 0x38d, in the lowest four bits anything."""

ADC_INTERFACE_ADDRESS = 0x02
"""ADC: header of a message."""

ADC_CHANNEL_ADDRESS = 0x10
"""ADC: channel 0 of 16; the others have 0x0001 after a reset."""

ADC_SETUP_ADDRESS = 0x20
"""ADC: setup 0 of 8."""

ADC_SETUP_REFERENCE_EXTERNAL = 0
"""Of its field reference."""

ADC_SETUP_REFERENCE_INTERNAL = 2
"""Of its field reference."""

ADC_SETUP_REFERENCE_SUPPLY = 3
"""Of its field reference."""

ADC_FILTER_ADDRESS = 0x28
"""ADC: filter 0 of 8."""

ADC_OFFSET_ADDRESS = 0x30
"""ADC: offset 0 of 8."""

ADC_GAIN_ADDRESS = 0x38
"""ADC: gain 0 of 8."""

ADC_DATA_ADDRESS = 0x04
"""ADC: result."""
