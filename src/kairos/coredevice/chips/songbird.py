"""Card with one fast DAC (LTC2000): tones, each with a cubic spline for its amplitude and a chirp for its phase.

Source: facts of the card (docs/cards.md); Analog Devices, LTC2000 data sheet, "SPI register summary".

Generated from src/contracts/chips/songbird.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "AMPLITUDE_SPAN",
    "FTW_BITS",
    "MESSAGE",
    "PHASE_BITS",
    "RATE_WORD",
    "SETTINGS",
    "SHIFT_MAX",
    "TRIGGER_AMPLITUDE",
    "TRIGGER_PHASE",
    "WORD_BITS",
]

WORD_BITS = 16
"""bits of a coefficient in an event"""

PHASE_BITS = 18
"""bits of a phase"""

FTW_BITS = 32
"""bits of a frequency word; all of them: the sampling rate"""

SHIFT_MAX = 15
"""greatest shift of a tone's rate of updates"""

AMPLITUDE_SPAN = 2.0
"""range of an amplitude, V"""

TRIGGER_AMPLITUDE = 0
"""address of the trigger for amplitudes"""

TRIGGER_PHASE = 1
"""address of the trigger for phases"""

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
