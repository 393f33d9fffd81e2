"""Card with a fast DAC (LTC2000), which plays tones: of each a cubic spline for its amplitude and a chirp.

Source: facts of the card (docs/cards.md); Analog Devices, LTC2000 data sheet, "SPI register summary".

Generated from src/contracts/chips/songbird.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "AMPLITUDE_SPAN",
    "DAC_CLOCK",
    "DAC_DATA_CLOCK",
    "DAC_OUTPUT",
    "DAC_OUTPUT_ON",
    "DAC_PRESENT",
    "DAC_RESET",
    "FTW_BITS",
    "LEVEL_BITS",
    "MESSAGE",
    "PHASE_BITS",
    "PHASE_WORDS",
    "RATE_WORD",
    "SAMPLES",
    "SETTINGS",
    "SHIFT_MAX",
    "TONES",
    "TONES_MAX",
    "TRIGGER_AMPLITUDE",
    "TRIGGER_PHASE",
    "checked_tone",
]

TONES = 4
"""tones of a card, unless its gateware was built with another number"""

TONES_MAX = 16
"""greatest number of tones"""

LEVEL_BITS = 16
"""bits of an amplitude and of a sample, two's complement"""

PHASE_BITS = 18
"""bits of a phase"""

FTW_BITS = 32
"""bits of a frequency word; all of them: the sampling rate"""

SAMPLES = 20
"""samples in a cycle of the RTIO clock"""

SHIFT_MAX = 15
"""greatest shift of a tone's rate of updates"""

AMPLITUDE_SPAN = 2.0
"""range of an amplitude, V"""

TRIGGER_AMPLITUDE = 0
"""address of the trigger for amplitudes"""

TRIGGER_PHASE = 1
"""address of the trigger for phases"""

DAC_RESET = 1
"""register of the DAC whose lowest bit resets it, and then reads as 0"""

DAC_CLOCK = 2
"""register of the DAC that shows `DAC_PRESENT` if the sampling clock runs"""

DAC_DATA_CLOCK = 3
"""register of the DAC that shows `DAC_PRESENT` if the clock of the data runs"""

DAC_PRESENT = 2
"""bit of these registers"""

DAC_OUTPUT = 4
"""register of the DAC that has the value `DAC_OUTPUT_ON` when it puts out data"""

DAC_OUTPUT_ON = 11
"""value of `DAC_OUTPUT` at the end of `init`"""

PHASE_WORDS = (
    (1, 16),
    (2, 32),
    (2, 32),
    (1, 16),
)
"""Events for the phase: its upper bits, the frequency word, its change, and `RATE_WORD`. A row: words, bits."""

SETTINGS = (
    (1, 1, 0x2710),
    (2, 0, 0),
    (3, 1, 0),
    (4, 3, 0x3E8),
    (4, 11, 0),
    (5, 0, 0),
    (7, 0, 0),
    (8, 8, 0),
    (24, 0, 0),
    (25, 0, 0),
    (30, 0, 0),
    (30, 0, 0),
)
"""Registers of the DAC that `init` writes, in order, with the time that it waits after each. A row: register, value,
microseconds."""


class MESSAGE(Register):
    """DAC: a message on its SPI bus."""

    chip = "Songbird"
    width = 32

    read = Field(31, 1, doc="the DAC sends the register")
    register = Field(24, 7, doc="register")
    value = Field(16, 8, doc="value")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(read=0, register=0, value=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((read & 0x1) << 31) | ((register & 0x7F) << 24) | ((value & 0xFF) << 16)


class RATE_WORD(Register):
    """Last word of a phase."""

    chip = "Songbird"
    width = 16

    low = Field(4, 2, doc="lowest bits of the phase")
    shift = Field(0, 4, doc="shift of the rate of updates")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(low=0, shift=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((low & 0x3) << 4) | (shift & 0xF)


@portable
def checked_tone(index) -> TInt32:
    """Return `index` if it is one of the tones. ValueError for another number."""
    if index < 0 or index >= 16:
        raise ValueError("the tones of a Songbird are 0 to 15")
    return index
