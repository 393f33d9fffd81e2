"""Card with eight ADC channels of 16 bits (LTC2335-16), each behind an amplifier (AD8253).

Source: Sinara Novogorny; Analog Devices, LTC2335-16 data sheet, section "Serial configuration".

Generated from src/contracts/chips/novogorny.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "ADC_CONTROL",
    "CHANNELS",
    "CS_ADC",
    "CS_PGIA",
    "RESULT",
    "SEQUENCE",
    "SPANS",
    "checked_channel",
    "checked_gain",
    "checked_softspan",
]

CS_ADC = 1
"""chip select of the ADC"""

CS_PGIA = 2
"""chip select of the amplifiers"""

CHANNELS = 8
"""channels of the card"""

SEQUENCE = 16
"""maximum number of control words stored by the ADC"""

SPANS = (
    (1.220703125, 0),
    (1.25, 0),
    (2.44140625, 1),
    (2.5, 1),
    (2.44140625, 0),
    (2.5, 0),
    (4.8828125, 1),
    (5.0, 1),
)
"""Ranges by number: span in units of the reference, and whether the range is bipolar. A row: span, bipolar."""


class ADC_CONTROL(Register):
    """Control word: next conversion of the ADC."""

    chip = "Novogorny"
    width = 8

    valid = Field(7, 1, doc="use this word")
    channel = Field(3, 3, doc="channel")
    softspan = Field(0, 3, doc="range, a row of SPANS")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(valid=0, channel=0, softspan=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((valid & 0x1) << 7) | ((channel & 0x7) << 3) | (softspan & 0x7)


class RESULT(Register):
    """A transfer from the ADC."""

    chip = "Novogorny"
    width = 24

    code = Field(8, 16, doc="code; two's complement in bipolar ranges")
    channel = Field(3, 3, doc="channel")
    softspan = Field(0, 3, doc="range")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(code=0, channel=0, softspan=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((code & 0xFFFF) << 8) | ((channel & 0x7) << 3) | (softspan & 0x7)


@portable
def checked_channel(index) -> TInt32:
    """Return `index` if it is one of the channels. ValueError for another number."""
    if index < 0 or index >= 8:
        raise ValueError("the channels of a Novogorny are 0 to 7")
    return index


@portable
def checked_gain(index) -> TInt32:
    """Return `index` if it is one of the gains. ValueError for another number."""
    if index < 0 or index >= 4:
        raise ValueError("the gains of a Novogorny are 0 to 3")
    return index


@portable
def checked_softspan(index) -> TInt32:
    """Return `index` if it is one of the ranges. ValueError for another number."""
    if index < 0 or index >= 8:
        raise ValueError("the ranges of a Novogorny are 0 to 7")
    return index
