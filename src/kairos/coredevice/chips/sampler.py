"""Card with eight ADC channels of 16 bits (LTC2320-16), each behind an amplifier (AD8253).

Source: Sinara Sampler; Analog Devices, AD8253 and LTC2320 data sheets.

Generated from src/contracts/chips/sampler.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "CHANNELS",
    "CS_ADC",
    "CS_PGIA",
    "PAIR",
    "PGIA",
    "checked_channel",
    "checked_gain",
]

CS_ADC = 0
"""chip select of the ADC"""

CS_PGIA = 1
"""chip select of the amplifiers"""

CHANNELS = 8
"""channels of the card"""


class PGIA(Register):
    """Settings of the amplifiers, in a shift register."""

    chip = "Sampler"
    width = 16
    reset = 0x0000

    gain = Field(0, 2, count=8, values={"X1": 0, "X10": 1, "X100": 2, "X1000": 3}, doc="gain of a channel")


class PAIR(Register):
    """A transfer from the ADC: the codes of two channels, two's complement."""

    chip = "Sampler"
    width = 32

    odd = Field(16, 16, signed=True, doc="code of the channel with the odd number")
    even = Field(0, 16, signed=True, doc="code of the channel with the even number")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(odd=0, even=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((odd & 0xFFFF) << 16) | (even & 0xFFFF)


@portable
def checked_channel(index) -> TInt32:
    """Return `index` if it is one of the channels. ValueError for another number."""
    if index < 0 or index >= 8:
        raise ValueError("the channels of a Sampler are 0 to 7")
    return index


@portable
def checked_gain(index) -> TInt32:
    """Return `index` if it is one of the gains. ValueError for another number."""
    if index < 0 or index >= 4:
        raise ValueError("the gains of a Sampler are 0 to 3")
    return index
