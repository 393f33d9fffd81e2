"""Probe of the monitor for each channel of a Sampler or a Novogorny: the code that was read of it last.

Source: docs/gateware/phys.md, SPI.

Generated from src/contracts/chips/measured.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "MEASURED",
]


class MEASURED(Register):
    """The last code; 0 until the channel is read."""

    chip = "ADC probe"
    width = 22
    reset = 0x000000

    code = Field(0, 16, doc="code as the card has sent it")
    gain = Field(16, 2, doc="setting of the channel's amplifier when it was read")
    softspan = Field(18, 3, doc="range of a Novogorny, a row of its SPANS; 0 for a Sampler")
    valid = Field(21, 1, doc="the channel has been read")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(code=0, gain=0, softspan=0, valid=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (code & 0xFFFF) | ((gain & 0x3) << 16) | ((softspan & 0x7) << 18) | ((valid & 0x1) << 21)
