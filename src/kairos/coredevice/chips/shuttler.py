"""Card with 16 DAC channels of 14 bits: of each a cubic spline for its level, one for an amplitude, and a chirp.

Source: Sinara Shuttler, RTIO channels of its gateware; Analog Devices, AD4115 data sheet, section "Register details".

Generated from src/contracts/chips/shuttler.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "ADC_DATA",
    "ADC_ID",
    "ADC_MODE",
    "COMMUNICATION",
    "LEVEL_WORDS",
    "OUTPUT_SPAN",
    "TONE_WORDS",
    "WORD_BITS",
]

WORD_BITS = 16
"""bits of a coefficient in an event"""

OUTPUT_SPAN = 20.0
"""range of an output, V"""

LEVEL_WORDS = (
    (1, 16),
    (2, 32),
    (3, 48),
    (3, 48),
)
"""Events for a coefficient a0 to a3 of the level, the lowest bits first. A row: words, bits."""

TONE_WORDS = (
    (1, 16),
    (2, 32),
    (3, 48),
    (3, 48),
    (1, 16),
    (2, 32),
    (2, 32),
)
"""Events for b0 to b3 of the amplitude and c0 to c2 of the phase, the lowest bits first. A row: words, bits."""


class COMMUNICATION(Register):
    """ADC: first byte of a message."""

    chip = "Shuttler"
    width = 8

    read = Field(6, 1, doc="the ADC sends the register")
    register = Field(0, 6, doc="register")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(read=0, register=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((read & 0x1) << 6) | (register & 0x3F)


class ADC_MODE(Register):
    """ADC: what it does."""

    chip = "Shuttler"
    width = 16
    address = 0x01
    reset = 0x2000

    ref_en = Field(15, 1, doc="internal reference on")
    sing_cyc = Field(13, 1, reset=1, doc="a conversion is given when it has settled")
    delay = Field(8, 3, doc="delay behind a change of channel")
    mode = Field(
        4,
        3,
        values={"CONTINUOUS": 0, "SINGLE": 1, "STANDBY": 2, "POWER_DOWN": 3},
        doc="mode, 4 to 7 calibrate",
    )
    clocksel = Field(2, 2, doc="clock")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(ref_en=0, sing_cyc=1, delay=0, mode=0, clocksel=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((ref_en & 0x1) << 15)
            | ((sing_cyc & 0x1) << 13)
            | ((delay & 0x7) << 8)
            | ((mode & 0x7) << 4)
            | ((clocksel & 0x3) << 2)
        )


class ADC_ID(Register):
    """ADC: identification; the AD4115 has 0x38d, in the lowest four bits anything."""

    chip = "Shuttler"
    width = 16
    address = 0x07

    product = Field(4, 12, doc="kind of chip")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(product=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (product & 0xFFF) << 4


class ADC_DATA(Register):
    """ADC: result."""

    chip = "Shuttler"
    width = 24
    address = 0x04

    code = Field(0, 24, doc="code")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(code=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return code & 0xFFFFFF
